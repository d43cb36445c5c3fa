import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { common, compressed } from './build.ts'

export default defineConfig({ ...common, root: import.meta.dirname, plugins: [react(), compressed()] })
