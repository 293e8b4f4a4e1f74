// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/report/report_style.h"

namespace openmrc::sim {

std::string report_css() {
  return R"(
:root{--page:#f4f6f9;--card:#fff;--line:#e1e5eb;--shadow:0 1px 2px rgba(20,30,50,.06)}
@media(prefers-color-scheme:dark){:root{--page:#11151b;--card:#191f28;--line:#2a323e;--shadow:none}}
*{box-sizing:border-box}
html{color-scheme:light dark}
body{margin:0;background:var(--page);color:var(--strong);font:15px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif}
main{max-width:1160px;margin:0 auto;padding:36px 24px 48px}
header{margin-bottom:24px}
h1{font-size:30px;line-height:1.2;margin:2px 0 6px;letter-spacing:-.01em}
h2{font-size:16px;margin:0 0 2px}
p{margin:0}
.eyebrow{font-size:13px;color:var(--label)}
.facts{color:var(--label);font-size:14px}
.verdict{font-size:20px;line-height:1.4;margin-top:18px;padding-left:14px;border-left:4px solid var(--c0)}
.detail{margin-top:8px;padding-left:18px}
.text{margin-top:12px;padding-left:18px;color:var(--label);max-width:80ch;white-space:pre-line}
.note{font-size:13px;color:var(--label);margin:0 0 10px}
.foot{font-size:13px;color:var(--label);margin-top:20px}
.tiles{display:flex;flex-wrap:wrap;gap:12px;margin-bottom:16px}
.tile,.card{background:var(--card);border:1px solid var(--line);border-radius:10px;box-shadow:var(--shadow)}
.tile{padding:12px 16px;flex:1 1 23%;min-width:190px}
.tile .name{font-size:13px;color:var(--label)}
.tile .value{font-size:24px;font-weight:600;line-height:1.3;letter-spacing:-.01em}
.tile .remark{font-size:13px;color:var(--label)}
.tile.bad .value{color:var(--fault)}
.charts{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:16px;margin-bottom:16px}
.tables{columns:2 460px;column-gap:16px}
.tables .card{break-inside:avoid;margin-bottom:16px}
.card{padding:16px 18px;margin:0}
.charts .card{display:flex;flex-direction:column}
.charts .scroll{margin-top:auto}
.wide{grid-column:1/-1}
.scroll{overflow-x:auto}
table{width:100%;border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:3px 14px 3px 0;border-bottom:1px solid var(--line);white-space:pre}
th{font-weight:600;color:var(--label);font-size:12px}
.n{text-align:right}
td:last-child:not(.n){white-space:pre-wrap;overflow-wrap:anywhere;min-width:9em}
th:last-child,td:last-child{padding-right:0}
pre{margin:8px 0 0;padding:12px 14px;background:var(--page);border-radius:8px;overflow-x:auto;font:13px/1.45 ui-monospace,Menlo,Consolas,monospace}
@media(max-width:820px){.charts{grid-template-columns:minmax(0,1fr)}main{padding:20px 14px}h1{font-size:24px}.verdict{font-size:18px}}
@media(max-width:520px){th,td{white-space:pre-wrap;padding-right:9px}.n{white-space:pre}td:last-child:not(.n){min-width:5em}.tile{min-width:150px}.card{padding:14px 12px}}
@media print{body{background:none}.card,.tile{break-inside:avoid;box-shadow:none}}
)";
}

}  // namespace openmrc::sim
