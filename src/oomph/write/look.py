"""How the classes of a drawing look, on light and on dark, as CSS.

Knows classes and colours. Does not know shapes. Colours are written out, not named by variables, because not every
program that shows an SVG knows variables.
"""

from oomph.ledger.ledger import Account
from oomph.write.drawing import look_of
from oomph.write.palette import ACCOUNTS, DARK, LIGHT, Palette

SANS = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif"
MONO = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"


def drawn() -> str:
    """Of everything that is drawn."""
    accounts = "".join(_account(account) for account in Account)
    return (
        f"{accounts}.o-name{{font-weight:600}}.o-mono{{font-family:{MONO}}}.o-likely{{opacity:.45}}"
        ".o-mark{fill:none;stroke-width:2.2;stroke-linecap:round;stroke-linejoin:round}"
        ".o-asked{fill:none;stroke-dasharray:3 3}.o-possible{fill:none;stroke-dasharray:2 2}"
        ".o-torn{fill:none;stroke-width:2}.o-device{stroke-width:2}.o-budget{stroke-dasharray:4 4}"
        ".o-device,.o-budget,.o-grid{fill:none}"
        f"{_ground(LIGHT)}@media(prefers-color-scheme:dark){{{_ground(DARK)}}}"
    )


def _account(account: Account) -> str:
    colour, ink = ACCOUNTS[account]
    name = look_of(account)
    return f".{name}{{fill:{colour}}}.{name}-ink{{fill:{ink}}}"


def _ground(palette: Palette) -> str:
    return (
        f".o-ground{{fill:{palette.ground};stroke:{palette.line}}}"
        f".o-ink,.o-name{{fill:{palette.ink}}}.o-faint,.o-asked-ink{{fill:{palette.faint}}}"
        f".o-fits{{fill:{palette.fits}}}.o-overflows{{fill:{palette.overflows}}}"
        f".o-unsure{{fill:{palette.unsure}}}.o-flag{{fill:{palette.flag}}}"
        f".o-stroke-fits{{stroke:{palette.fits}}}.o-stroke-overflows,.o-torn,.o-stripe{{stroke:{palette.overflows}}}"
        f".o-missing-ground{{fill:{palette.ground}}}.o-missing{{stroke:{palette.overflows}}}"
        f".o-missing-ink{{fill:{palette.ink};stroke:{palette.ground};stroke-width:3px;paint-order:stroke}}"
        f".o-track{{fill:{palette.raised}}}.o-grid{{stroke:{palette.line}}}"
        f".o-asked{{stroke:{palette.faint}}}.o-possible{{stroke:{palette.unsure}}}"
        f".o-device{{stroke:{palette.ink}}}.o-budget{{stroke:{palette.faint}}}"
    )


def page() -> str:
    """Of the page around the drawing."""
    return (
        f"{_variables(LIGHT)}@media(prefers-color-scheme:dark){{{_variables(DARK)}}}"
        "*{box-sizing:border-box}"
        f"body{{margin:0;background:var(--ground);color:var(--ink);font:16px/1.5 {SANS};overflow-wrap:anywhere}}"
        "main{max-width:944px;margin:0 auto;padding:32px}"
        "h1{font-size:30px;line-height:1.25;margin:4px 0 12px}h2{font-size:20px;margin:40px 0 12px}"
        "p{margin:8px 0}.faint{color:var(--faint)}header .faint{margin:0}"
        ".fits{color:var(--fits)}.overflows{color:var(--overflows)}.unsure{color:var(--unsure)}"
        f"figure{{margin:28px 0 0}}figure svg{{width:100%;height:auto;font-family:{SANS}}}.on-narrow{{display:none}}"
        f"code{{font:14px/1.5 {MONO};background:var(--raised);border-radius:4px;padding:1px 5px}}"
        ".cards{list-style:none;padding:0;margin:12px 0;display:grid;gap:12px;"
        "grid-template-columns:repeat(auto-fill,minmax(min(100%,400px),1fr))}"
        ".cards li{margin:0;border:1px solid var(--line);border-radius:10px;padding:14px 16px}.cards p{margin:6px 0 0}"
        ".take{display:block;padding:8px 10px;color:var(--flag);font-weight:600;user-select:all}.then{font-weight:600}"
        "ul{padding-left:20px;margin:8px 0}li{margin:6px 0}"
        "table{border-collapse:collapse;width:100%;font-size:15px}th,td{text-align:left;vertical-align:top;"
        "padding:8px 16px 8px 0;border-bottom:1px solid var(--line)}thead th{color:var(--faint);font-weight:400}"
        "td:not(:last-child){white-space:nowrap;font-variant-numeric:tabular-nums}"
        "th[scope=row]{font-weight:600;white-space:nowrap}tfoot td{font-weight:600}"
        ".swatch{width:12px;height:12px;margin-right:8px}"
        "dl{display:grid;grid-template-columns:max-content 1fr;gap:6px 20px;margin:8px 0}"
        "dt{color:var(--faint)}dd{margin:0}"
        "details{border-bottom:1px solid var(--line);padding:10px 0}summary{cursor:pointer}"
        "summary strong{display:inline-block;min-width:130px}details dl{margin:10px 0 4px 18px}"
        f"@media(max-width:640px){{{_PHONE}}}"
    )


def quoted() -> str:
    """Of lines of a log, and of what follows from them."""
    return (
        ".said{list-style:none;padding:0;margin:8px 0}.said li{display:grid;grid-template-columns:80px 1fr;gap:8px}"
        ".said code{background:none;padding:0;font-size:13px}"
        ".sum{font-weight:600;font-variant-numeric:tabular-nums}.deed{font-weight:600;color:var(--flag);margin:0}"
    )


_PHONE = (
    "main{padding:20px 16px}h1{font-size:24px}h2{font-size:18px;margin:32px 0 10px}"
    ".on-wide{display:none}.on-narrow{display:block}"
    "thead{display:none}tr{display:block;padding:10px 0;border-bottom:1px solid var(--line)}"
    "th,td{display:block;border:0;padding:1px 0}td[data-label]{display:grid;grid-template-columns:110px 1fr}"
    "td[data-label]::before{content:attr(data-label);color:var(--faint)}td:empty{display:none}"
    "td:not(:last-child){white-space:normal}"
    "dl.settings{display:block}dl.settings dd{margin:0 0 10px}"
)


def _variables(palette: Palette) -> str:
    names = ("ground", "raised", "line", "ink", "faint", "fits", "overflows", "unsure", "flag")
    return ":root{" + "".join(f"--{name}:{getattr(palette, name)};" for name in names) + "}"
