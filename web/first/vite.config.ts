import path from 'node:path'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { common } from '../build.ts'

const standIn = (name: string) => path.join(import.meta.dirname, 'stand-ins', name)

/** The first picture of the pages: a program for the server, and its style. */
export default defineConfig({
  ...common,
  root: import.meta.dirname,
  plugins: [react()],
  define: { 'process.env.NODE_ENV': '"production"' },
  resolve: {
    // Without `browser`: there is no document.
    conditions: ['module', 'production'],
    mainFields: ['module', 'main'],
    alias: [
      { find: /^@mantine\/core$/, replacement: standIn('mantine.tsx') },
      { find: /^react-router$/, replacement: standIn('router.tsx') },
      { find: /^\.\.?\/.*\bcontent\.ts$/, replacement: standIn('content.ts') },
      { find: /^\.\.?\/.*\brole\.ts$/, replacement: standIn('role.ts') },
    ],
  },
  build: {
    ...common.build,
    lib: { entry: 'first.tsx', formats: ['es'], fileName: 'first', cssFileName: 'first' },
  },
})
