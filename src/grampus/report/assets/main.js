// Everything in its place, then the first drawing, then the texts.
function startCopy() {
  byId("copy").addEventListener("click", async () => {
    const text = byId("command").textContent;
    try {
      await navigator.clipboard.writeText(text);
      sayOn(byId("copy"), "Copied", 1500);
    } catch {
      getSelection().selectAllChildren(byId("command"));
      sayOn(byId("copy"), "Selected", 1500);
    }
  });
}

// Mark the part of the page that is being read in the bar on top.
function startBar() {
  const links = new Map([...document.querySelectorAll("header nav a")].map((link) => [link.hash.slice(1), link]));
  const watch = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        for (const link of links.values()) link.removeAttribute("aria-current");
        const link = links.get(entry.target.id);
        link?.setAttribute("aria-current", "true");
        const nav = link?.parentElement;
        if (nav && nav.scrollWidth > nav.clientWidth)
          nav.scrollTo({ left: link.offsetLeft - nav.clientWidth / 2 + link.offsetWidth / 2 });
      }
    },
    { rootMargin: "-20% 0px -70% 0px" },
  );
  for (const id of links.keys()) if (byId(id)) watch.observe(byId(id));
}

startTheme();
startEdits();
startStatements();
startMap();
startGestures();
startSearch();
startFilters();
startDocuments();
startTree();
startFound();
startCards();
startCounts();
startOddities();
startHeatmap();
for (const start of starts) start();
regroup();
startLegend();
showLegend();
if (data.choice?.ks.length > 1) choiceChart();
startCopy();
startBar();
startResults();
startPictures();
for (const part of document.querySelectorAll(".static")) part.remove();
startLink();
setTimeout(loadTexts, 0);
