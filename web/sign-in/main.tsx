/** @jsxImportSource preact */
import { render } from 'preact'
import { App } from './app.tsx'
import { followScheme } from './scheme.ts'
import '../tokens.css'
import './sign-in.css'

followScheme()

// The browser may have signed in or out since it cached this page (bfcache).
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload()
})

// Another link from a mail was opened in this tab.
addEventListener('hashchange', () => location.reload())

const place = document.querySelector('#app')
if (!place) throw new Error('the page has no place for the app')
render(<App />, place)
