// Builds the bundles of the explorer, the reference and the meter of passwords into ../static/vendor, each with its licenses.
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const vendor = fileURLToPath(new URL("../static/vendor", import.meta.url));
const bundles = {
  explorer: ["explorer.js", "editor.worker.js", "graphql.worker.js", "json.worker.js"],
  reference: ["reference.js"],
  passwords: ["passwords.js"],
};
// Scalar's chat, which calls its own host, and its icons for workspaces, which this page never shows.
const UNUSED = /AgentScalarDrawer\.vue|\/icons\/[\w-]+\.svg\.js$/;
const withoutUnused = {
  name: "without-unused",
  setup(bundle) {
    bundle.onResolve({ filter: UNUSED }, () => ({ path: "unused", namespace: "unused" }));
    bundle.onLoad({ filter: /.*/, namespace: "unused" }, () => ({ contents: "module.exports = {};" }));
  },
};

for (const [name, entryPoints] of Object.entries(bundles)) {
  const folder = join(vendor, name);
  rmSync(folder, { recursive: true, force: true });
  const { metafile } = await build({
    entryPoints,
    outdir: folder,
    bundle: true,
    format: "esm",
    splitting: true,
    minify: true,
    target: "es2022",
    chunkNames: "chunk-[hash]",
    define: { "process.env.NODE_ENV": '"production"' },
    // The icons of Monaco; no other font is built in.
    loader: { ".ttf": "dataurl" },
    legalComments: "none",
    logLevel: "warning",
    metafile: true,
    plugins: [withoutUnused],
  });
  // The page's style sheet has the styles of every chunk.
  for (const file of readdirSync(folder)) if (/^chunk-.*\.css$/.test(file)) rmSync(join(folder, file));
  writeFileSync(join(folder, "LICENSES.txt"), licenses(Object.keys(metafile.inputs)));
}

/** The license of each package that has a file among the inputs. */
function licenses(inputs) {
  const folders = inputs.map((path) => path.match(/^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//)?.[1]);
  const texts = [...new Set(folders.filter(Boolean))].map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const file = readdirSync(folder).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
    const text = file && existsSync(join(folder, file)) ? readFileSync(join(folder, file), "utf8").trim() : "";
    return `${name}@${version}: ${license}\n\n${text}\n`;
  });
  return texts.sort().join(`\n${"-".repeat(80)}\n\n`);
}
