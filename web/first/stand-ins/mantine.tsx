import type { ReactNode } from 'react'
import classes from '../first.module.css'

/** The parts of Mantine that the first picture shows, without its scripts and styles. */

interface BadgeProps {
  readonly color: string
  readonly className?: string | undefined
  readonly children: ReactNode
}

export function Badge({ color, className = '', children }: BadgeProps) {
  return (
    <span className={`mantine-Badge-root ${classes.badge} ${className}`} data-color={color}>
      {children}
    </span>
  )
}

/** The place of a button, whose text has no effect yet. */
export function Button({ className = '', children }: { readonly className?: string; readonly children: ReactNode }) {
  return <span className={`${classes.text} ${className}`}>{children}</span>
}
