import { renderToStaticMarkup } from 'react-dom/server.edge'
import type { Content } from '../content.ts'
import { setFirm } from '../locale.ts'
import '../layers.css'
import '@mantine/core/styles/baseline.layer.css'
import './first.css'
import '../tokens.css'
import '../styles.css'
import { Frame } from './frame.tsx'
import { Main } from './main.tsx'
import { setContent } from './stand-ins/content.ts'

/**
 * The first picture of a page as HTML: what the server sends to be shown until the app has started. Empty for people who are not signed
 * in. It has no style attributes, which the Content-Security-Policy refuses.
 */
export function firstPicture(content: Content): string {
  const { viewer, settings } = content
  if (!viewer) return ''
  if (settings) setFirm(settings.firm)
  setContent(content)
  try {
    return renderToStaticMarkup(
      <Frame viewer={viewer}>
        <Main content={content} />
      </Frame>,
    )
  } finally {
    setContent({ address: '/', status: 200 })
  }
}
