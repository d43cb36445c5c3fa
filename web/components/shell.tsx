import { useEffect, useLayoutEffect, useRef } from 'react'
import { Outlet, ScrollRestoration, useLocation, useNavigation, type Location } from 'react-router'
import { content } from '../content.ts'
import { removeFirstPicture } from '../first-picture.ts'
import { ConfirmIdentity } from './confirm-identity.tsx'
import { Questions } from './confirm.tsx'
import { isFocusLost, settled, useFocusKept } from './focus.ts'
import { useSearchKey } from './keys.ts'
import { Navigation } from './navigation.tsx'
import { Palette } from './palette.tsx'
import { PhoneMenu } from './phone-menu.tsx'
import classes from './shell.module.css'
import { Shortcuts } from './shortcuts.tsx'
import { TimerWatch } from './timer/running-timer.tsx'
import { UnsavedGuard } from './unsaved.tsx'
import { Wordmark } from './wordmark.tsx'

/** The frame of every page for signed-in people: the navigation, and a progress bar during loading. */
export function Shell() {
  const main = useRef<HTMLElement>(null)
  const goOn = () => focusOn(main.current)
  useFocusOnPage(main)
  useFocusKept()
  useSearchKey()
  useLayoutEffect(removeFirstPicture, [])
  if (!content.viewer) return <Outlet />
  return (
    <div className={classes.shell}>
      <a
        className={classes.skip}
        href="#main"
        onClick={(event) => {
          // Keep the URL: a hash would add a history entry.
          event.preventDefault()
          main.current?.focus()
        }}
      >
        Skip to the content
      </a>
      <Progress />
      <PhoneMenu viewer={content.viewer} onLeft={goOn} />
      <aside className={classes.side}>
        <Wordmark />
        <Navigation viewer={content.viewer} />
      </aside>
      <main id="main" ref={main} tabIndex={-1} className={classes.main}>
        <Outlet />
      </main>
      <ScrollRestoration getKey={scrollKeyOf} />
      <UnsavedGuard />
      <Questions />
      <ConfirmIdentity />
      <Palette />
      <Shortcuts />
      <TimerWatch />
    </div>
  )
}

/** Every page that is loaded from the server has the key `default`, and must not get the scroll position of another. */
const scrollKeyOf = ({ key, pathname, search }: Location) => (key === 'default' ? pathname + search : key)

/**
 * Moves the focus to the start of a new page, so that screen readers announce it. A page that focuses one of its own
 * elements, such as a search field, keeps that focus. Within a page, where forms open and close by its URL, the focus
 * moves only if the focused element is gone.
 */
function useFocusOnPage(main: React.RefObject<HTMLElement | null>) {
  const { pathname, hash } = useLocation()
  const before = useRef({ pathname, hash })
  useEffect(() => {
    const { pathname: left, hash: leftHash } = before.current
    before.current = { pathname, hash }
    if (pageOf(left) !== pageOf(pathname)) focusOn(main.current)
    if (left === pathname && leftHash === hash) return undefined
    const timer = setTimeout(() => isFocusLost() && focusOn(main.current), settled)
    return () => clearTimeout(timer)
  }, [main, pathname, hash])
}

function focusOn(main: HTMLElement | null): void {
  if (!main?.contains(document.activeElement)) main?.focus({ preventScroll: true })
}

/** The part of the path that identifies a page; all tabs of a record share it. */
function pageOf(pathname: string): string {
  return pathname.split('/').slice(0, 3).join('/')
}

function Progress() {
  const { state } = useNavigation()
  return <div className={classes.progress} data-busy={state !== 'idle' || undefined} aria-hidden />
}
