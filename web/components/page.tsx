import { useEffect, type ReactNode } from 'react'
import classes from './page.module.css'

export interface PageProps {
  /** Of the window, before the product's name. */
  readonly title: string
  /** What stands at the top instead of the title, where that is more than a word. */
  readonly heading?: ReactNode
  /** Beside the heading, in small. */
  readonly aside?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
}

/** A page: its title, what can be done on it, and what it shows. */
export function Page({ title, heading, aside, actions, children }: PageProps) {
  useTitle(title)
  return (
    <div className={classes.page}>
      <header className={classes.header}>
        <div className={classes.heading}>
          {heading ?? <h1>{title}</h1>}
          {aside !== undefined && <span className={classes.aside}>{aside}</span>}
        </div>
        {actions !== undefined && <div className={classes.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  )
}

/** Of the window, for as long as what it names is shown. */
export function useTitle(title: string): void {
  useEffect(() => {
    const before = document.title
    document.title = `${title} · Tollgate`
    return () => {
      document.title = before
    }
  }, [title])
}
