document.documentElement.dataset.script = "";
