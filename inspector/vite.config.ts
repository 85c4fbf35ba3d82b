import { defineConfig } from 'vite';

// Builds the page of the inspector into build/inspector. scripts/build.js compresses it into dist/inspector.
export default defineConfig({
  root: import.meta.dirname ?? new URL('.', import.meta.url).pathname,
  base: './',
  logLevel: 'warn',
  build: {
    outDir: '../build/inspector',
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    cssCodeSplit: true,
    reportCompressedSize: false,
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
});
