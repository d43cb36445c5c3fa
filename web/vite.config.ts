import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { common, compressed, loadedLast } from './build.ts'

export default defineConfig({
  ...common,
  root: import.meta.dirname,
  plugins: [react(), compressed(), loadedLast()],
  build: {
    ...common.build,
    // Each file costs a round trip: what every page needs comes in one.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'index', tags: ['$initial'] }] } } },
  },
})
