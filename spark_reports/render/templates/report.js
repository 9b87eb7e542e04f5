"use strict";
// Figures: as wide as the page has room; on paper as wide as paper, and on one sheet if it can be.
const PAPER_PX = 680;
const SHEET_PX = 900;
const plots = [];

async function draw(plot) {
  const { data, layout } = JSON.parse(document.getElementById(plot.dataset.figure).textContent);
  const narrow = document.documentElement.clientWidth < 640;
  if (narrow) layout.font = { ...layout.font, size: 11 };
  const config = {
    responsive: true,
    displaylogo: false,
    showTips: false,
    // Names of members, `$a and $b`, are no formulas.
    typesetMath: false,
    modeBarButtons: [["toImage"]],
    displayModeBar: narrow ? false : "hover",
    toImageButtonOptions: { filename: plot.dataset.name, scale: 2 },
  };
  await Plotly.newPlot(plot, data, layout, config);
  // A mark that a row of a table has the numbers of leads there.
  plot.on("plotly_click", ({ points }) => {
    if (points[0]?.customdata) location.hash = points[0].customdata;
  });
}

// What draws is packed. The page's policy knows it by its digest.
async function unpack() {
  const packed = Uint8Array.from(atob(document.getElementById("plotly").textContent), (byte) => byte.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const script = document.createElement("script");
  script.textContent = await new Response(unpacked).text();
  document.head.append(script);
}

async function drawAll() {
  try {
    if (document.getElementById("plotly")) await unpack();
  } catch (error) {
    // An older browser: each figure says that it could not be drawn.
    console.error(error);
  }
  for (const plot of document.querySelectorAll("[data-figure]")) {
    try {
      await draw(plot);
      plots.push(plot);
    } catch (error) {
      console.error(error);
      plot.className = "failed";
      plot.textContent = "This figure could not be drawn. The tables have its numbers, and the SQL gives them.";
    }
  }
  document.documentElement.dataset.drawn = "yes";
}

addEventListener("beforeprint", () => {
  for (const plot of plots) {
    const own = Number(plot.dataset.height ?? plot.layout.height);
    const height = own < 1.7 * SHEET_PX ? Math.min(own, SHEET_PX) : own;
    plot.dataset.height = own;
    plot.style.minHeight = 0;
    Plotly.relayout(plot, { autosize: false, width: PAPER_PX, height });
  }
});
addEventListener("afterprint", () => {
  for (const plot of plots) Plotly.relayout(plot, { autosize: true, width: null, height: Number(plot.dataset.height) });
});

async function copy(button, code) {
  try {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = "Copied";
  } catch {
    // Some browsers give pages from a file no clipboard: mark it, so that Ctrl-C does the rest.
    getSelection().selectAllChildren(code);
    button.textContent = "Marked";
  }
}

// The SQL of a figure or table.
for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", () => copy(button, document.getElementById(button.dataset.copy)));
}

// The line that runs a run again.
for (const button of document.querySelectorAll("[data-line]")) {
  button.addEventListener("click", () => {
    let code = button.nextElementSibling;
    if (code?.tagName !== "CODE") {
      code = document.createElement("code");
      code.textContent = button.dataset.line;
      button.after(code);
    }
    copy(button, code);
  });
}

drawAll();
