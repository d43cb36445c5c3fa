import { Badge } from '@mantine/core'
import { useState } from 'react'
import { ShowMore } from '../../components/show-more.tsx'
import { exactTime } from '../../locale.ts'
import type { ListedSignIn } from '../../../src/signin/me/schema.ts'
import classes from './me.module.css'
import { useAccount } from './use-own-change.ts'

const shownAtFirst = 5

/** The last sign-ins of the person, also of sessions that have ended. */
export function SignIns() {
  const { sign_ins: signIns } = useAccount().me
  const [showsAll, setShowsAll] = useState(false)
  const shown = showsAll ? signIns : signIns.slice(0, shownAtFirst)
  return (
    <section className={classes.section}>
      <h2>Recent sign-ins</h2>
      <p className={classes.about}>If one of them was not you, sign out everywhere, and change how you sign in.</p>
      <ul className={classes.list}>
        {shown.map((each, index) => (
          <SignInRow key={`${each.at} ${index}`} signIn={each} />
        ))}
      </ul>
      <ShowMore
        shown={shown.length}
        total={String(signIns.length)}
        hasMore={shown.length < signIns.length}
        onMore={async () => setShowsAll(true)}
      />
    </section>
  )
}

function SignInRow({ signIn }: { readonly signIn: ListedSignIn }) {
  const { at, device, address, method_name: method, current } = signIn
  return (
    <li className={classes.row}>
      <div className={classes.what}>
        <p>
          <strong>{device ?? 'Unknown browser'}</strong>
          {current && <Badge color="teal">This session</Badge>}
        </p>
        <p className={classes.about}>
          <time dateTime={at}>{exactTime(at)}</time> · {method}
          {address !== null && ` · ${address}`}
        </p>
      </div>
    </li>
  )
}
