import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { Plugin, UserConfig } from 'vite'

/** Writes compressed copies of scripts and styles, which the server sends. */
export function compressed(): Plugin {
  return {
    name: 'compressed',
    generateBundle: {
      order: 'post',
      handler(_options, bundle) {
        for (const [fileName, file] of Object.entries(bundle)) {
          if (!/\.(?:js|css|svg)$/.test(fileName)) continue
          const source = Buffer.from(file.type === 'chunk' ? file.code : file.source)
          const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } }
          this.emitFile({ type: 'asset', fileName: `${fileName}.br`, source: brotliCompressSync(source, quality) })
          this.emitFile({ type: 'asset', fileName: `${fileName}.gz`, source: gzipSync(source, { level: 9 }) })
        }
      },
    },
  }
}

/**
 * Moves scripts and style sheets to the end of the page: over a slow connection, what the page shows first then arrives before them, and
 * is painted without them.
 */
export function loadedLast(): Plugin {
  return {
    name: 'loaded-last',
    transformIndexHtml: {
      order: 'post',
      handler(html) {
        const loaded = [
          ...html.matchAll(/^ *<(?:script type="module".*<\/script>|link rel="(?:modulepreload|stylesheet)".*>)\n/gm),
        ]
        const rest = loaded.reduce((left, [line]) => left.replace(line, ''), html)
        return rest.replace('  </body>', `${loaded.map(([line]) => line).join('')}  </body>`)
      },
    },
  }
}

/** The build settings shared by the portal and the sign-in page. */
export const common = {
  // The server replaces this with a new nonce in every response.
  html: { cspNonce: '__NONCE__' },
  build: {
    target: 'es2023',
    modulePreload: { polyfill: false },
    // A data: URL would need a wider policy than a file.
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    reportCompressedSize: false,
  },
  logLevel: 'warn',
} satisfies UserConfig
