// Starts GraphiQL on the endpoint that this page is served from.
"use strict";

{
  const mount = document.getElementById("explorer");
  const token = document.getElementById("token");

  const fetchWithToken = (address, options) => {
    const headers = new Headers(options.headers);
    // A header written in GraphiQL's own editor goes before the field.
    if (token.value && !headers.has("Authorization")) headers.set("Authorization", `Bearer ${token.value}`);
    return fetch(address, { ...options, headers });
  };

  const explorer = React.createElement(GraphiQL, {
    fetcher: GraphiQL.createFetcher({ url: location.pathname, fetch: fetchWithToken }),
    defaultTabs: JSON.parse(mount.dataset.examples),
    forcedTheme: "system",
    shouldPersistHeaders: false,
    showPersistHeadersSettings: false,
  });
  ReactDOM.createRoot(mount).render(explorer);
}
