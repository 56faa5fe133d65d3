"""A Containerfile becomes steps, and whatever cannot be done is refused with its line."""

import pytest

from apps.builds.plan import Plan, make
from apps.builds.recipe import Recipe
from apps.common.errors import Invalid

USUAL = """# syntax=docker/dockerfile:1
ARG VERSION=12
FROM debian:$VERSION
ARG PIN=2.3.5
ENV APP=/srv/app PATH=$APP/bin:$PATH
RUN apt-get update && \\
    # a comment between
    apt-get install -y git
WORKDIR $APP
COPY requirements.txt run.sh ./
COPY --chmod=0755 app ./src
ADD https://example.com/weights.bin /models/
RUN ["pip", "install", "numpy"]
EXPOSE 8080 53/udp
LABEL maker="the lab"
USER nobody
ENTRYPOINT ["python3"]
CMD src/main.py --fast
"""
FILES = ("app/main.py", "app/data/a.csv", "requirements.txt", "run.sh")


def refusal(text: str, files: tuple[str, ...] = FILES) -> str:
    with pytest.raises(Invalid) as refused:
        make(text, files)
    assert list(refused.value.fields) == ["containerfile"]
    return str(refused.value.message)


def test_the_usual_instructions_become_steps_and_settings() -> None:
    plan = make(USUAL, FILES)
    assert (plan.base, plan.base_line) == ("debian:12", 3)
    assert [(step.line, step.do) for step in plan.steps] == [
        (6, "run"), (9, "folder"), (10, "copy"), (11, "copy"), (12, "fetch"), (13, "run")
    ]  # fmt: skip
    apt, workdir, two, tree, fetch, run = plan.steps
    assert apt.argv[:2] == ("/bin/sh", "-c")
    assert "apt-get install -y git" in apt.argv[2]
    assert "comment" not in apt.argv[2]
    assert apt.env["PIN"] == "2.3.5"
    assert workdir.workdir == "/srv/app"
    assert two.files == (("requirements.txt", "/srv/app/requirements.txt"), ("run.sh", "/srv/app/run.sh"))
    assert tree.files == (("app/main.py", "/srv/app/src/main.py"), ("app/data/a.csv", "/srv/app/src/data/a.csv"))
    assert tree.mode == 0o755
    assert (fetch.url, fetch.target) == ("https://example.com/weights.bin", "/models/weights.bin")
    assert run.argv == ("pip", "install", "numpy")
    making = plan.making
    assert making.env["APP"] == "/srv/app"
    assert making.env["PATH"].endswith(":$PATH")  # the base's, which only its machine knows
    assert "PIN" not in making.env
    assert making.config == {
        "WorkingDir": "/srv/app",
        "ExposedPorts": {"8080/tcp": {}, "53/udp": {}},
        "Labels": {"maker": "the lab"},
        "User": "nobody",
        "Entrypoint": ["python3"],
        "Cmd": ["/bin/sh", "-c", "src/main.py --fast"],
    }


def test_copy_takes_patterns_and_everything() -> None:
    plan = make("FROM a\nCOPY *.txt /x/\nCOPY . /all\nCOPY run.sh /usr/bin/start\n", FILES)
    assert [step.files for step in plan.steps] == [
        (("requirements.txt", "/x/requirements.txt"),),
        tuple((name, f"/all/{name}") for name in FILES),
        (("run.sh", "/usr/bin/start"),),
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("RUN echo", "begin with a FROM"),
        ("ARG A=1", "begin with a FROM"),
        ("RUN x\nFROM a", "begin with a FROM"),
        ("FROM a\nRUNN x", "Line 2: RUNN is not an instruction"),
        ("FROM a\nRUN", "Line 2: RUN says nothing"),
        ("FROM a\nHEALTHCHECK NONE", "Line 2: HEALTHCHECK"),
        ("FROM a\nRUN <<EOF\nx\nEOF", "Line 2: here-documents"),
        ("FROM a\n\nRUN --mount=type=cache,target=/x y", "Line 3: options of RUN"),
        ("FROM a\nRUN --mount=type=bind,from=b x", "Line 2: options of RUN"),
        ("FROM a\nCOPY absent.txt /x", "Line 2: absent.txt is not among the uploaded files"),
        ("FROM a\nCOPY *.cfg /x/", "Line 2: *.cfg is not among"),
        ("FROM a\nCOPY ../secret /x", "Line 2: ../secret leads out"),
        ("FROM a\nCOPY x", "Line 2: name what is copied"),
        ('FROM a\nCOPY "x /y', "Line 2: a quotation mark"),
        ("FROM a\nENV A", "Line 2: write it as NAME=value"),
        ("FROM a\nWORKDIR src", "Line 2: write the first WORKDIR"),
        ("FROM a\nEXPOSE web", "Line 2: a port is a number"),
        ("FROM a\nADD files.tar.gz /", "Line 2: ADD would unpack"),
        ("FROM a\nRUN echo \0", "64 KiB"),
        ("FROM a\n" + "RUN x\n" * 101, "more than 100"),
    ],
)
def test_what_is_not_done_is_said_with_its_line(text: str, words: str) -> None:
    assert words in refusal(text)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/x",
        "http://10.0.0.5:8000/x",
        "http://169.254.169.254/latest/meta-data",
        "http://[::1]/x",
        "http://[fd00::1]/x",
        "http://0.0.0.0/x",
        "http://100.64.0.1/x",
        "http://localhost/x",
        "http://db.internal/x",
        "http://postgres/x",
    ],
)
def test_add_fetches_nothing_from_inside(url: str) -> None:
    assert "address inside" in refusal(f"FROM a\nADD {url} /x")


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://example.com/x", "git@example.com:x/y.git"])
def test_add_fetches_by_http_alone(url: str) -> None:
    assert "http and https" in refusal(f"FROM a\nADD {url} /x")


def test_an_address_with_a_password_is_refused() -> None:
    assert "password" in refusal("FROM a\nADD https://me:secret@example.com/x /x")


def test_the_form_writes_a_containerfile() -> None:
    recipe = Recipe("debian:12", ["git", "libgl1"], ["numpy==2.3.5", "torch>=2.4"], ["echo 'a b'"], has_files=True)
    text = recipe.containerfile()
    assert text.splitlines()[0] == "FROM debian:12"
    assert "apt-get install -y --no-install-recommends git libgl1" in text
    assert "pip install numpy==2.3.5 'torch>=2.4'" in text
    assert "COPY . /opt/files/" in text
    assert text.endswith("RUN echo 'a b'\n")


@pytest.mark.parametrize(
    ("field", "values"),
    [("apt", ["git; rm -rf /"]), ("apt", ["$(x)"]), ("apt", ["-o"]), ("pip", ["--index-url=x"]), ("pip", ["a b; c"])],
)
def test_what_is_no_name_of_a_package_is_refused(field: str, values: list[str]) -> None:
    with pytest.raises(Invalid) as refused:
        Recipe("a", **{field: values}).containerfile()
    assert list(refused.value.fields) == [field]


def test_a_form_that_asks_for_nothing_is_refused() -> None:
    with pytest.raises(Invalid, match="Nothing is asked for"):
        Recipe("a").containerfile()


def test_a_plan_is_plain_data() -> None:
    assert make("FROM a\nRUN x", ()).as_json()["parts"][0]["steps"][0]["argv"] == ("/bin/sh", "-c", "x")
    assert isinstance(make("FROM a\nRUN x", ()), Plan)
