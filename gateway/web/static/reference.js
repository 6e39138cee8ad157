// Shows the OpenAPI document with RapiDoc, in this page's colours and with this page's token.
const mount = document.getElementById("reference");
const token = document.getElementById("token");
const narrow = matchMedia("(max-width: 767px)");
const dark = matchMedia("(prefers-color-scheme: dark)");
const element = document.createElement("rapi-doc");

// Not show-curl-before-try: each drawing makes new example UUIDs, which change the command, which is drawn again.
const attributes = {
  "load-fonts": "false",
  "regular-font": "system-ui, sans-serif",
  "mono-font": "ui-monospace, Consolas, monospace",
  "font-size": "large",
  "show-header": "false",
  "allow-authentication": "false",
  "allow-server-selection": "false",
  "allow-spec-file-download": "false",
  "show-method-in-nav-bar": "as-colored-text",
  "nav-item-spacing": "compact",
  "schema-style": "table",
  "schema-description-expanded": "true",
  "persist-auth": "false",
};

// RapiDoc computes shades from its colours, so it needs their values rather than the custom properties.
function applyColours() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  element.setAttribute("theme", dark.matches ? "dark" : "light");
  element.setAttribute("bg-color", colour("background"));
  element.setAttribute("text-color", colour("text"));
  element.setAttribute("primary-color", colour("accent"));
  element.setAttribute("nav-bg-color", colour("surface"));
  element.setAttribute("nav-text-color", colour("muted"));
  element.setAttribute("nav-hover-bg-color", colour("line"));
  element.setAttribute("nav-hover-text-color", colour("text"));
  element.setAttribute("nav-accent-color", colour("accent"));
}

// On a narrow screen RapiDoc hides its navigation, so all operations are listed instead.
function applyWidth() {
  element.setAttribute("render-style", narrow.matches ? "view" : "focused");
}

// Calls go to the host that serves this page: its policy allows no other, and a laptop has several names.
function servedHere(description, address) {
  const folder = new URL(".", address).pathname;
  const complete = Object.keys(description.paths).some((path) => path.startsWith(folder));
  return { ...description, servers: [{ url: location.origin + (complete ? "" : folder.slice(0, -1)) }] };
}

// RapiDoc sends the token with the operations whose security asks for it, and shows it in their curl commands.
function applyToken() {
  element.removeAllSecurityKeys();
  if (!token.value) return;
  for (const scheme of element.resolvedSpec?.securitySchemes ?? []) {
    if (scheme.type === "http") element.setApiKey(scheme.securitySchemeId, token.value);
    if (scheme.type === "oauth2") element.setApiKey(scheme.securitySchemeId, `Bearer ${token.value}`);
  }
}

function showFailure(reason) {
  const notice = document.createElement("p");
  notice.className = "notice";
  notice.setAttribute("role", "alert");
  notice.textContent = `The description of the API could not be read: ${reason}`;
  mount.replaceChildren(notice);
}

dark.addEventListener("change", applyColours);
narrow.addEventListener("change", applyWidth);

for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
applyColours();
applyWidth();
mount.replaceChildren(element);

// In a list of operations RapiDoc would place each one's security note at the top of the page.
const placement = new CSSStyleSheet();
placement.replaceSync(".endpoint-body .summary { position: relative; padding-top: 30px; }");
element.shadowRoot.adoptedStyleSheets.push(placement);

try {
  const response = await fetch(mount.dataset.openapi);
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  await element.loadSpec(servedHere(await response.json(), response.url));
  applyToken();
  token.addEventListener("input", applyToken);
} catch (error) {
  showFailure(error.message);
}
