# What every shell of the environment starts with: the home's Python before the image's.
case ":$PATH:" in
  *":$HOME/.venv/bin:"*) ;;
  *) PATH="$HOME/.venv/bin:$PATH" ;;
esac
export PATH
if [ -d "$HOME/.venv" ]; then export VIRTUAL_ENV="$HOME/.venv" PYTHONNOUSERSITE=1; fi
