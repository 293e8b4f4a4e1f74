// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/report/chart_style.h"

#include <fmt/format.h>

namespace openmrc::sim {

std::string series_color(std::size_t index) { return fmt::format("var(--c{})", index % 8); }

std::string shade_color(std::size_t index, std::size_t count) {
  const double at = count < 2 ? 0 : static_cast<double>(index) / (static_cast<double>(count) - 1);
  return fmt::format("hsl({:.0f},{:.0f}%,{:.0f}%)", 226 - 62 * at, 60 - 12 * at, 44 + 22 * at);
}

std::string chart_css() {
  return R"(
:root{--c0:#2f6fde;--c1:#e07b16;--c2:#2a9d63;--c3:#d03a34;--c4:#8a5cd0;--c5:#12939a;--c6:#cf4f93;--c7:#8d6e4a;
--grid:#e7eaef;--axis:#9aa4b2;--label:#5a6575;--strong:#1b2330;--fault:#d03a34}
@media(prefers-color-scheme:dark){:root{--c0:#6ea2ff;--c1:#f2a24a;--c2:#58c48d;--c3:#ff7a70;--c4:#b595f2;--c5:#4cc3c9;--c6:#ee8bc0;--c7:#c0a27e;
--grid:#2a323e;--axis:#667284;--label:#9aa6b7;--strong:#e8ecf2;--fault:#ff7a70}}
svg.chart{display:block;width:100%;height:auto;font:11px system-ui,-apple-system,"Segoe UI",sans-serif}
svg.chart text{fill:var(--label)}
svg.chart .e{text-anchor:end}
svg.chart .m{text-anchor:middle}
svg.chart .k,svg.chart .r{fill:var(--strong)}
svg.chart .r{paint-order:stroke;stroke:var(--card,#fff);stroke-width:3px}
svg.chart .f{fill:var(--fault)}
svg.chart .grid{stroke:var(--grid)}
svg.chart .axis{stroke:var(--axis)}
svg.chart .l{fill:none;stroke-width:1.5;stroke-linejoin:round}
svg.chart .a{fill-opacity:.88}
svg.chart .d{stroke-dasharray:5 3}
svg.chart .ref{stroke:var(--label);stroke-dasharray:2 3;fill:none}
svg.chart .span{fill:var(--fault);fill-opacity:.13}
svg.chart .edge{stroke:var(--fault);stroke-opacity:.7}
svg.chart .cursor{stroke:var(--strong);stroke-opacity:.5}
#tip{position:absolute;display:none;pointer-events:none;background:var(--strong);color:var(--card,#fff);font-size:12px;line-height:1.5;padding:6px 9px;border-radius:6px;white-space:pre}
)";
}

std::string chart_script() {
  return R"(
(function(){
var tip=document.createElement('div');tip.id='tip';document.body.appendChild(tip);
document.querySelectorAll('svg[data-rows]').forEach(function(svg){
var names=svg.dataset.names.split('|');
var rows=svg.dataset.rows.split('\n').map(function(row){return row.split('|')});
var line=document.createElementNS('http://www.w3.org/2000/svg','path');line.setAttribute('class','cursor');
svg.addEventListener('mousemove',function(event){
var box=svg.getBoundingClientRect();
var at=(event.clientX-box.left)*svg.viewBox.baseVal.width/box.width;
var row=rows.reduce(function(a,b){return Math.abs(a[0]-at)>Math.abs(b[0]-at)?b:a});
line.setAttribute('d','M'+row[0]+' '+svg.dataset.top+'V'+svg.dataset.bottom);svg.appendChild(line);
tip.textContent=names.map(function(name,i){return row[i+1]?name+'  '+row[i+1]:''}).filter(Boolean).join('\n');
tip.style.display='block';
var side=event.clientX>innerWidth/2?-tip.offsetWidth-16:16;
tip.style.left=event.pageX+side+'px';tip.style.top=event.pageY+12+'px';
});
svg.addEventListener('mouseleave',function(){tip.style.display='none';line.remove()});
});
})();
)";
}

}  // namespace openmrc::sim
