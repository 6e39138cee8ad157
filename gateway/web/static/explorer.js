// Starts GraphiQL on the endpoint that this page is served from.
const mount = document.getElementById("explorer");
const token = document.getElementById("token");
const workers = JSON.parse(mount.dataset.workers);

// Monaco calls its own worker editorWorkerService.
self.MonacoEnvironment = {
  getWorker: (_, label) => new Worker(workers[label] ?? workers.editor, { type: "module" }),
};
const { GraphiQL, createElement, createGraphiQLFetcher, createRoot } = await import(mount.dataset.bundle);

function fetchWithToken(address, options) {
  const headers = new Headers(options.headers);
  // A header written in GraphiQL's own editor goes before the field.
  if (token.value && !headers.has("Authorization")) headers.set("Authorization", `Bearer ${token.value}`);
  return fetch(address, { ...options, headers });
}

// Each user of a browser has their own tabs, which hold their ids.
function storageOf(owner) {
  const prefix = `explorer:${owner}:`;
  const names = () => Object.keys(localStorage).filter((name) => name.startsWith(prefix));
  return {
    getItem: (name) => localStorage.getItem(prefix + name),
    setItem: (name, value) => localStorage.setItem(prefix + name, value),
    removeItem: (name) => localStorage.removeItem(prefix + name),
    clear: () => names().forEach((name) => localStorage.removeItem(name)),
    get length() {
      return names().length;
    },
  };
}

// GraphiQL's editors read the scheme of the system once, so the page tells them when it changes.
const isDark = () => document.documentElement.classList.contains("is-dark");
const properties = {
  fetcher: createGraphiQLFetcher({ url: location.pathname, fetch: fetchWithToken }),
  storage: storageOf(mount.dataset.owner),
  defaultTabs: JSON.parse(mount.dataset.examples),
  defaultEditorToolsVisibility: matchMedia("(max-width: 767px)").matches ? false : "variables",
  shouldPersistHeaders: false,
  showPersistHeadersSettings: false,
};
const root = createRoot(mount);
const render = () =>
  root.render(createElement(GraphiQL, { ...properties, forcedTheme: isDark() ? "dark" : "light" }));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", render);
render();

// GraphiQL makes a tab of an element that has two buttons, which screen readers then do not tell apart.
new MutationObserver(() => {
  for (const tab of mount.querySelectorAll(".graphiql-tab[role], .graphiql-tab[aria-selected]")) {
    const selected = tab.getAttribute("aria-selected");
    tab.removeAttribute("role");
    tab.removeAttribute("aria-selected");
    tab.querySelector(".graphiql-tab-button").setAttribute("aria-current", selected);
    tab.parentElement.removeAttribute("role");
  }
}).observe(mount, { subtree: true, childList: true, attributes: true, attributeFilter: ["aria-selected"] });
