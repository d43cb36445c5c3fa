import { defineConfig } from 'vite'
import { common, compressed } from '../build.ts'

/** The sign-in page is a build of its own: it shares no file with the rest of the portal, so it stays small. */
export default defineConfig({ ...common, root: import.meta.dirname, plugins: [compressed()] })
