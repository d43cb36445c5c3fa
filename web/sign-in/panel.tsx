/** @jsxImportSource preact */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { content } from '../content.ts'
import icon from '../icon.svg'

interface PanelProps {
  readonly title: string
  readonly children: ComponentChildren
}

const { name, logo } = content.settings?.firm ?? {}
let isFirst = true

/**
 * One step of a sign-in. When it replaces another, the focus moves to its first field or to its heading, so that screen
 * readers announce it.
 */
export function Panel({ title, children }: PanelProps) {
  const panel = useRef<HTMLDivElement>(null)
  useEffect(() => {
    document.title = `${title} · Tollgate`
    const field = panel.current?.querySelector<HTMLElement>('[data-autofocus]')
    if (field) field.focus()
    else if (!isFirst) panel.current?.querySelector('h1')?.focus()
    isFirst = false
  }, [title])
  return (
    <main class="page">
      <div class="panel" ref={panel}>
        <span class="wordmark">
          {logo === undefined ? (
            <img src={icon} alt="" width="22" height="22" />
          ) : (
            <img class="logo" src={logo} alt="" />
          )}
          {name ?? 'Tollgate'}
        </span>
        <h1 tabIndex={-1}>{title}</h1>
        {children}
      </div>
    </main>
  )
}

/** A step that ends here: it says what happened, and where to go. */
export function Ending({ title, text, to, action }: { title: string; text: string; to: string; action: string }) {
  return (
    <Panel title={title}>
      <p>{text}</p>
      <a class="button primary" href={to} data-autofocus>
        {action}
      </a>
    </Panel>
  )
}
