import preact from "@preact/preset-vite";
import { defineConfig } from "vite";

// Relative addresses: the page lies in any folder of any server. The Python package takes it from
// where `elanite explore` serves it.
export default defineConfig({
  base: "./",
  plugins: [preact()],
  build: {
    outDir: "../python/elanite/explorer",
    emptyOutDir: true,
    target: "es2022",
    chunkSizeWarningLimit: 700,
    license: { fileName: "licenses.md" }, // the notices that the libraries' licences ask for
  },
  worker: { format: "es" },
});
