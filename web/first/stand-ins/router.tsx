import type { ReactNode } from 'react'
import { content } from './content.ts'

/** Plain links: the browser follows them before the app has started. */

interface LinkProps {
  readonly to: string
  readonly end?: boolean
  readonly preventScrollReset?: boolean
  readonly className?: string | undefined
  readonly children: ReactNode
  readonly 'data-row'?: string | boolean
  readonly 'aria-label'?: string
  readonly 'aria-current'?: 'page'
}

export function Link(props: LinkProps) {
  return (
    <a
      href={props.to}
      className={props.className}
      data-row={props['data-row']}
      aria-label={props['aria-label']}
      aria-current={props['aria-current']}
    >
      {props.children}
    </a>
  )
}

export function NavLink({ to, end = false, className = '', children }: LinkProps) {
  const { pathname } = useLocation()
  const isActive = pathname === to || (!end && pathname.startsWith(`${to}/`))
  return (
    <a href={to} className={isActive ? `${className} active` : className} aria-current={isActive ? 'page' : undefined}>
      {children}
    </a>
  )
}

export const useLocation = () => new URL(content.address, 'http://localhost')

export const NavigationType = { Pop: 'POP' } as const
export const useNavigationType = () => NavigationType.Pop
export const useNavigate = () => () => undefined
