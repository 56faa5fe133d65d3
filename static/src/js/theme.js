// Runs in the head before anything is painted: "auto" follows the system, now and when it changes.
{
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    const wanted = root.dataset.theme ?? "auto";
    root.dataset.bsTheme = wanted === "auto" ? (dark.matches ? "dark" : "light") : wanted;
  };
  apply();
  dark.addEventListener("change", apply);
}
