import { useEffect, useRef } from 'react'
import { Outlet, ScrollRestoration, useLocation, useNavigation } from 'react-router'
import { content } from '../content.ts'
import { Questions } from './confirm.tsx'
import { useSearchKey } from './keys.ts'
import { Navigation } from './navigation.tsx'
import { PhoneMenu } from './phone-menu.tsx'
import classes from './shell.module.css'
import { UnsavedGuard } from './unsaved.tsx'
import { Wordmark } from './wordmark.tsx'

/** What surrounds every page of who is signed in: the way to the others, and a bar while the next one is fetched. */
export function Shell() {
  const main = useRef<HTMLElement>(null)
  const goOn = () => focusOn(main.current)
  useFocusOnPage(main)
  useSearchKey()
  if (!content.viewer) return <Outlet />
  return (
    <div className={classes.shell}>
      <a
        className={classes.skip}
        href="#main"
        onClick={(event) => {
          // The address stays: a hash would be another place to go back to.
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
      <ScrollRestoration />
      <UnsavedGuard />
      <Questions />
    </div>
  )
}

/**
 * After a move to another page the keyboard goes on from its beginning, and a screen reader reads its title. A page that
 * begins elsewhere, as in a search field, has the keyboard there already.
 */
function useFocusOnPage(main: React.RefObject<HTMLElement | null>) {
  const { pathname } = useLocation()
  const before = useRef(pathname)
  useEffect(() => {
    const isSamePlace = placeOf(before.current) === placeOf(pathname)
    before.current = pathname
    if (!isSamePlace) focusOn(main.current)
  }, [main, pathname])
}

function focusOn(main: HTMLElement | null): void {
  if (!main?.contains(document.activeElement)) main?.focus({ preventScroll: true })
}

/** The tabs of one record are one place. */
function placeOf(pathname: string): string {
  return pathname.split('/').slice(0, 3).join('/')
}

function Progress() {
  const { state } = useNavigation()
  return <div className={classes.progress} data-busy={state !== 'idle' || undefined} aria-hidden />
}
