// Shows the OpenAPI document with Scalar, in this page's colours and with this page's session or token.
const mount = document.getElementById("reference");
const token = document.getElementById("token");
const header = document.querySelector(".site-header");
const isDark = () => document.documentElement.classList.contains("is-dark");

// Zod, which Scalar uses, would try whether it may compile code: the page's policy refuses that.
globalThis.__zod_globalConfig = { jitless: true };

// Calls go to the host that serves this page: its policy allows no other, and a laptop has several names.
function servedHere(description, address) {
  const folder = new URL(".", address).pathname;
  const complete = Object.keys(description.paths).some((path) => path.startsWith(folder));
  return { ...description, servers: [{ url: location.origin + (complete ? "" : folder.slice(0, -1)) }] };
}

// On this page a credential is optional, because the session is one too.
function withOptionalCredentials(description) {
  for (const operation of Object.values(description.paths).flatMap(Object.values)) {
    if (operation.security?.length) operation.security.push({});
  }
  return description;
}

const inCamelCase = (name) => name.replace(/_(.)/g, (_, letter) => letter.toUpperCase());

// Reads of a resource begin with an id that the signed-in user can see: the first of its list. Changes do not.
async function withOwnIds(description) {
  const lists = Object.entries(description.paths).flatMap(([path, { get }]) => {
    // The portal's lists are its customers'.
    const name = get?.operationId.match(/^list_(?!portal_)(.+)$/)?.[1];
    const reads = Object.entries(description.paths).filter(([below]) => below.startsWith(`${path}{id}`));
    return name && reads.length ? [{ field: inCamelCase(name), reads }] : [];
  });
  const query = `{ ${lists.map(({ field }) => `${field}(limit: 1) { data { id } }`).join(" ")} }`;
  const response = await fetch("/graphql", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ query }),
  });
  const { data } = await response.json();
  for (const { field, reads } of lists) {
    const id = data?.[field]?.data[0]?.id;
    for (const [, { get }] of id ? reads : []) {
      const parameter = get?.parameters?.find(({ name }) => name === "id");
      if (parameter) parameter.example = id;
    }
  }
  return description;
}

// The browser adds the session's cookie, which counts only where no credential is sent.
function authorize({ requestBuilder }) {
  if (requestBuilder.security.some(({ value }) => value)) return;
  requestBuilder.security.splice(0);
  if (token.value) requestBuilder.headers.set("Authorization", `Bearer ${token.value}`);
}

function settings(description) {
  return {
    content: description,
    theme: "none",
    forceDarkModeState: isDark() ? "dark" : "light",
    hideDarkModeToggle: true,
    withDefaultFonts: false,
    telemetry: false,
    hideClientButton: true,
    showDeveloperTools: "never",
    documentDownloadType: "none",
    mcp: { disabled: true },
    agent: { disabled: true },
    persistAuth: false,
    hideModels: true,
    defaultOpenFirstTag: false,
    defaultRequestBodyView: "raw",
    orderSchemaPropertiesBy: "preserve",
    defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
    onBeforeRequest: authorize,
  };
}

function showFailure(reason) {
  const notice = document.createElement("p");
  notice.className = "notice";
  notice.setAttribute("role", "alert");
  notice.textContent = `The description of the API could not be read: ${reason}`;
  mount.replaceChildren(notice);
}

// Scalar's columns stick below the header, which has two lines on a narrow screen.
new ResizeObserver(() => {
  document.documentElement.style.setProperty("--scalar-custom-header-height", `${header.offsetHeight}px`);
}).observe(header);

try {
  const [{ createApiReference }, response] = await Promise.all([
    import(mount.dataset.bundle),
    fetch(mount.dataset.openapi),
  ]);
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  const described = withOptionalCredentials(servedHere(await response.json(), response.url));
  const description = "signedIn" in mount.dataset ? await withOwnIds(described) : described;
  createApiReference(mount, settings(description));
  // Scalar reads the scheme once; its styles follow the body's class.
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    document.body.classList.toggle("dark-mode", isDark());
    document.body.classList.toggle("light-mode", !isDark());
  });
} catch (error) {
  showFailure(error.message);
}
