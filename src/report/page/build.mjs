/**
 * @fileoverview Bundles the page's script and styles into one HTML file, the form that sonde fills with a profile.
 *
 * Usage: node build.mjs OUTPUT    run by scripts/build-page, beside whose node_modules it stands
 */
import { readFile, readdir, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const MARK = "@SONDE-DATA@";
const FOLDER = fileURLToPath(new URL(".", import.meta.url));

/** The script and the styles that it imports, and which files went into them. */
async function bundle() {
  const result = await build({ stdin: { contents: 'import "./main.js"; import "./style.css";', resolveDir: FOLDER, loader: "js" },
                               absWorkingDir: FOLDER, outdir: "bundle", bundle: true, minify: true, write: false, metafile: true,
                               format: "iife", target: "es2022", charset: "utf8", legalComments: "inline", logLevel: "warning" });
  const textOf = (ending) => result.outputFiles.find((file) => file.path.endsWith(ending)).text;
  return { script: textOf(".js"), style: textOf(".css"), inputs: Object.keys(result.metafile.inputs) };
}

/** A script's text must not end its element, whatever is in it. */
function safe(text) {
  return text.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
}

/** The licences of what went into the bundle, each text once: they ask to go with it. */
async function licences(inputs) {
  const packages = [...new Set(inputs.map((path) => path.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1]).filter(Boolean))];
  const holders = new Map();
  for (const name of packages.sort()) {
    const folder = new URL(`node_modules/${name}/`, import.meta.url);
    const file = (await readdir(folder)).find((one) => /^licen[cs]e/i.test(one));
    const { version, license } = JSON.parse(await readFile(new URL("package.json", folder), "utf8"));
    const text = file === undefined ? license : (await readFile(new URL(file, folder), "utf8")).trim();
    holders.set(text, [...(holders.get(text) ?? []), `${name} ${version}`]);
  }
  return [...holders].map(([text, names]) => `${names.join(", ")}:\n\n${text}\n`).join("\n");
}

const { script, style, inputs } = await bundle();
const parts = { "/*STYLE*/": style, "/*SCRIPT*/": safe(script), "/*LICENCES*/": safe(await licences(inputs)) };
let page = await readFile(new URL("page.html", import.meta.url), "utf8");
for (const [mark, text] of Object.entries(parts)) page = page.replace(mark, () => text);
if (page.split(MARK).length !== 2) throw new Error(`the page must have ${MARK} once`);
await writeFile(process.argv[2], page);
