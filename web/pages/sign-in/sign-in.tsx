import { Button } from '@mantine/core'
import { IconArrowRight } from '@tabler/icons-react'
import { useLoaderData } from 'react-router'
import { useTitle } from '../../components/page.tsx'
import { Wordmark } from '../../components/wordmark.tsx'
import type { SignInPage as SignIn } from '../../../src/signin/schema.ts'
import classes from './sign-in.module.css'

/** A button for each provider. */
export function SignInPage() {
  const { providers, return_to: returnTo } = useLoaderData<SignIn>()
  const query = returnTo === undefined || returnTo === '/' ? '' : `?return_to=${encodeURIComponent(returnTo)}`
  useTitle('Sign in')
  return (
    <main className={classes.page}>
      <div className={classes.panel}>
        <Wordmark />
        <h1>Sign in</h1>
        <div className={classes.providers}>
          {providers.map(({ id, name }, index) => (
            <Button
              key={id}
              component="a"
              href={`/auth/start/${id}${query}`}
              size="md"
              fullWidth
              variant={index === 0 ? 'filled' : 'default'}
              rightSection={<IconArrowRight size={16} />}
            >
              {`Continue with ${name}`}
            </Button>
          ))}
        </div>
        {providers.length === 0 && (
          <p>No sign-in method is configured. Ask the operator of Tollgate to add a provider.</p>
        )}
        <p className={classes.about}>
          You sign in at your provider. Tollgate receives your name and email address, never your password.
        </p>
      </div>
    </main>
  )
}
