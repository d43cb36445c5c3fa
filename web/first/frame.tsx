import { IconMenu2, IconSelector } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Initials } from '../components/initials.tsx'
import navigation from '../components/navigation.module.css'
import { Places } from '../components/places.tsx'
import shell from '../components/shell.module.css'
import { Wordmark } from '../components/wordmark.tsx'
import type { Viewer } from '../content.ts'
import { roleNames } from '../words.ts'
import classes from './first.module.css'

/** The frame of a page, as the shell draws it. */
export function Frame({ viewer: { person }, children }: { readonly viewer: Viewer; readonly children: ReactNode }) {
  return (
    <div id="first" className={`${classes.first} ${shell.shell}`}>
      <a className={shell.skip} href="#main">
        Skip to the content
      </a>
      <div className={shell.top}>
        <span className={classes.menu}>
          <IconMenu2 size={20} aria-hidden />
        </span>
        <Wordmark />
      </div>
      <aside className={shell.side}>
        <Wordmark />
        <nav className={navigation.navigation} aria-label="Main">
          <Places role={person.role} />
          <div className={navigation.space} />
          <div className={navigation.person}>
            <Initials name={person.name} />
            <span className={navigation.who}>
              <span className={navigation.name}>{person.name}</span>
              <span className={navigation.role}>{roleNames[person.role]}</span>
            </span>
            <IconSelector size={15} aria-hidden />
          </div>
        </nav>
      </aside>
      <main id="main" tabIndex={-1} className={shell.main}>
        {children}
      </main>
    </div>
  )
}
