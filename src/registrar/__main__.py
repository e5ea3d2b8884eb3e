"""The start of a process: the command `registrar`, ``python -m registrar`` and `entrypoint.py`."""

import os
import sys


def run() -> int:
    """Run registrar with the arguments and the environment of the process; return the exit code.

    Everything else is imported only here, so that a signal that arrives meanwhile ends the process
    without a traceback. The exit code is 2 on a system without POSIX, such as Windows without WSL.
    """
    # Windows lacks the signals, the descriptors and the modules that everything below uses
    if os.name != "posix":
        _open_streams()
        sys.stderr.write(
            "registrar は Linux、macOS、WSL で動作します。Windows では WSL を使ってください。 / "
            "registrar runs on Linux, macOS and WSL. On Windows, use WSL.\n"
        )
        return 2
    try:
        import signal  # noqa: PLC0415

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # Until the run itself takes over, nothing is done and there is nothing to tell
            if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, lambda number, _frame: os._exit(128 + number))
        # The scripts start us with it blocked: the interpreter alone would answer with a traceback
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT,))
    except KeyboardInterrupt:
        os._exit(130)

    import gc  # noqa: PLC0415

    # Nearly all that a start creates stays: looking through it for garbage costs 5 % of the start
    gc.set_threshold(500_000)
    _open_streams()
    try:
        from registrar.main import main  # noqa: PLC0415
        from registrar.runtime.cancellation import Cancellation  # noqa: PLC0415
    except ImportError as missing:
        print(f"必要なパッケージがありません / missing package: {missing.name}", file=sys.stderr)
        return 2

    cancellation = Cancellation()
    cancellation.install()
    code = main(sys.argv[1:], os.environ, sys.stdout, sys.stderr, cancellation)
    # The end of the process frees everything; the interpreter would collect it first, bit by bit
    gc.freeze()
    return code


def _open_streams() -> None:
    # A closed standard stream is None, and its number would go to the next file that is opened
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = sys.stdout or os.fdopen(1, "w")
    sys.stderr = sys.stderr or os.fdopen(2, "w")
    for stream in (sys.stdout, sys.stderr):
        # Whatever the locale, Japanese can be printed, and nothing that cannot ends the run
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]


if __name__ == "__main__":
    sys.exit(run())
