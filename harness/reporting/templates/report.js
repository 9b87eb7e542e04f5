"use strict";
for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", async () => {
    const code = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      // Some browsers give pages from a file no clipboard: mark it, so that Ctrl-C does the rest.
      getSelection().selectAllChildren(code);
      button.textContent = "Marked";
    }
  });
}

const list = document.getElementById("event-list");
const filter = document.getElementById("filter");
const rows = [...list.querySelectorAll("tbody tr")];

function narrow() {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const row of rows) {
    const text = row.textContent.toLowerCase();
    row.hidden = !words.every((word) => text.includes(word));
    shown += row.hidden ? 0 : 1;
  }
  document.getElementById("filtered").textContent = words.length ? shown + " shown" : "";
}
filter.addEventListener("input", narrow);

function showTarget() {
  const row = document.getElementById(location.hash.slice(1));
  if (!row || !list.contains(row)) return;
  list.open = true;
  if (row.hidden) {
    filter.value = "";
    narrow();
  }
  row.scrollIntoView({ block: "center" });
}
addEventListener("hashchange", showTarget);
showTarget();
