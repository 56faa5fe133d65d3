"""Which names are those of metrics, and how they are called."""

import re
from functools import lru_cache
from itertools import pairwise

LONGEST = 250

# Results: a line that says one of these is read without any word of progress.
RESULTS_TEXT = """
loss acc accuracy auc auroc auprc f1 rmse mae mse mape mrr ndcg perplexity ppl bleu rouge wer cer iou miou dice
psnr ssim fid logloss nll reward elbo bpc bpb top1 top5 acc1 acc5 map50 kappa mcc
"""
RESULTS = frozenset(RESULTS_TEXT.split())
# Names that count beside a word of progress, also after a mere space.
KNOWN_TEXT = """
lr learning_rate error err precision recall score return r2 kl entropy norm grad_norm gnorm map mfu hit ce bce
likelihood inertia temperature beta epsilon cost objective l1 l2 throughput
"""
KNOWN = RESULTS | frozenset(KNOWN_TEXT.split())
# How a run is set up, how long something took, and how much it needs.
NO_METRICS_TEXT = """
time eta elapsed remaining duration date hour hours minute minutes second seconds sec secs ms runtime speed seed
port pid uid gid rank device devices gpu gpus cuda cpu cpus mem memory ram vram version ver v_num total totals
size sizes batch_size batchsize batch batches bs num number n count samples consumed epochs epoch step steps
iter iters iteration iterations it round rounds worker workers node nodes world max min warmup patience
instances images class classes params parameters layers layer dim hidden heads vocab seq length len depth width
height kernel stride channels file files line lines page path dir folder url host ip id ids status code exit
level skipped started ended finished every interval best_epoch best_step checkpoint ckpt saved data_time
batch_time iter_time step_time timestamp created day month year took cost_time reader_cost batch_cost nnz nnzs t
best
"""
NO_METRICS = frozenset(NO_METRICS_TEXT.split())
# Whatever they say of a metric, it is not its value.
QUALIFIERS_TEXT = """
weight weights scale scaling fn func function type name names coef coeff alpha steps smoothing threshold target
every limit mode
"""
QUALIFIERS = frozenset(QUALIFIERS_TEXT.split())
_HELD_OUT = frozenset(["val", "valid", "validation", "test", "eval", "evaluation", "oob", "cv"])
_PREFIX = re.compile(r"(train|training|val|valid|validation|test|eval)(?:['’]s|[ -])[ -]*(.+)", re.IGNORECASE)
_NUMBERED = re.compile(r"((?:valid|validation|eval|test|train)_\d+)(?:['’]s |-)(.+)")
_OF = re.compile(r"(\w[\w-]*)['’]s (.+)")
_SPLIT = re.compile(r"[^A-Za-z0-9]+")


@lru_cache(maxsize=4096)
def words_of(name: str) -> frozenset[str]:
    """Its words in small letters, and neighbours joined as `learning_rate` is."""
    found = [word for word in _SPLIT.split(name.lower()) if word]
    return frozenset(found) | {f"{first}_{second}" for first, second in pairwise(found)}


def _has(name: str, known: frozenset[str]) -> bool:
    words = words_of(name)
    return bool(words & known) or any(
        word.endswith(("loss", "logloss")) or word.startswith(("map50", "acc@")) for word in words
    )


def is_result(name: str) -> bool:
    is_one = _has(name, RESULTS) or bool(words_of(name) & _HELD_OUT and words_of(name) & {"score", "error"})
    return is_one and not is_none(name)


def is_known(name: str) -> bool:
    return _has(name, KNOWN) and not is_none(name)


@lru_cache(maxsize=4096)
def is_none(name: str) -> bool:
    """Whether the name says that this is no metric. What a known metric is counted in or by does not make it none."""
    words = words_of(name)
    if words & QUALIFIERS:
        return True
    named_result = bool(words & RESULTS) or any(word.endswith("loss") for word in words)
    return not named_result and bool(words & NO_METRICS) and not _is_rate(words)


def _is_rate(words: frozenset[str]) -> bool:
    """`samples_per_second` is one, `consumed samples` is not."""
    return "per" in words


@lru_cache(maxsize=4096)
def as_name(printed: str) -> str:
    """How a metric is called whose name was printed so."""
    name = printed.strip().strip("'\"").strip()
    for pattern in (_NUMBERED, _PREFIX, _OF):
        if found := pattern.fullmatch(name):
            name = f"{found[1]}/{found[2]}"
            break
    return re.sub(r"\s+", "_", name)[:LONGEST]
