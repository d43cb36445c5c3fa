import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { RouterProvider } from 'react-router/dom'
import { forgetContent } from './api.ts'
import { ComingPlace } from './components/parameters.ts'
import { SessionWatch } from './components/session-watch.tsx'
import { content, nonce } from './content.ts'
import { keepPlace } from './first-picture.ts'
import { setFirm } from './locale.ts'
import { readKept } from './kept.ts'
import { router } from './routes.tsx'
import './styles.ts'
import { schemeManager } from './settings.ts'
import { theme } from './theme.ts'

if (content.settings) setFirm(content.settings.firm)

// Where a dialog's scroll lock looks for the nonce of its style element.
Object.assign(globalThis, { __webpack_nonce__: nonce })

const stop = router.subscribe(({ initialized }) => {
  if (!initialized) return
  keepPlace()
  forgetContent()
  stop()
})

// The person may have changed since the browser cached this page (bfcache).
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload()
})

const comingPlace = () => router.state.navigation.location ?? router.state.location

await readKept()
const place = document.querySelector('#app')
if (!place) throw new Error('the page has no place for the app')
createRoot(place).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      colorSchemeManager={schemeManager}
      getStyleNonce={() => nonce}
    >
      <Notifications position="bottom-right" limit={3} />
      <SessionWatch>
        <ComingPlace value={comingPlace}>
          <RouterProvider router={router} />
        </ComingPlace>
      </SessionWatch>
    </MantineProvider>
  </StrictMode>,
)
