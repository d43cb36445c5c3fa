import { Badge, Button } from '@mantine/core'
import { startTransition, useState } from 'react'
import { Link, useLoaderData, useRevalidator } from 'react-router'
import type { ConfiguredModelJson, ConsoleModels } from '../../../src/models/schema.ts'
import { Empty } from '../../components/empty.tsx'
import { notifyDone } from '../../components/notify.ts'
import { Page } from '../../components/page.tsx'
import { numberText } from '../../locale.ts'
import { counted } from '../../words.ts'
import { NewPrice } from './new-price.tsx'
import { priceText } from './price-text.ts'
import { Prices } from './prices.tsx'
import classes from './models.module.css'

/** The configured models, their readiness and their prices; for partners. */
export function ModelsPage() {
  const { models, unlimited_keys: unlimited, currency } = useLoaderData<ConsoleModels>()
  const { revalidate } = useRevalidator()
  const [priced, price] = useState<ConfiguredModelJson>()
  return (
    <Page title="Models" aside={models.length > 0 && counted(models.length, 'model')}>
      {models.length === 0 && (
        <Empty title="No models yet">
          <p>
            Models are added in the configuration, under <code>models</code>. Restart the service afterwards.
          </p>
        </Empty>
      )}
      {models.map((model) => (
        <Model key={model.id} model={model} unlimited={unlimited} currency={currency} onPrice={() => price(model)} />
      ))}
      {priced && (
        <NewPrice
          model={priced}
          currency={currency}
          onClose={() => price(undefined)}
          onDone={async (message) => {
            notifyDone(message)
            await revalidate()
            startTransition(() => price(undefined))
          }}
        />
      )}
    </Page>
  )
}

interface ModelProps {
  readonly model: ConfiguredModelJson
  readonly unlimited: number
  readonly currency: string
  readonly onPrice: () => void
}

function Model({ model, unlimited, currency, onPrice }: ModelProps) {
  const { id, aliases, price, ready, reason } = model
  return (
    <section className={classes.model} aria-label={id}>
      <header className={classes.head}>
        <h2>{id}</h2>
        {aliases.map((alias) => (
          <Badge key={alias} color="gray">
            {alias}
          </Badge>
        ))}
        {price === null ? (
          <Badge color="orange">No price</Badge>
        ) : (
          <Badge color={ready ? 'teal' : 'red'}>{ready ? 'Ready' : 'Not ready'}</Badge>
        )}
        <Button variant="default" className={classes.action} onClick={onPrice}>
          Set price
        </Button>
      </header>
      {reason !== null && <p className={classes.reason}>{reason}</p>}
      <dl className={classes.facts}>
        <div>
          <dt>Price per million tokens</dt>
          <dd>{price === null ? 'None: it cannot be called' : priceText(price, currency)}</dd>
        </div>
        <div>
          <dt>Tokens</dt>
          <dd>
            {numberText(model.context)} of context
            {model.kind === 'text' && `, ${numberText(model.max_output_tokens)} of output`}
          </dd>
        </div>
        <div>
          <dt>Capabilities</dt>
          <dd>{[model.kind, ...model.capabilities].join(', ')}</dd>
        </div>
        <div>
          <dt>Engine</dt>
          <dd>
            {model.engine}
            {model.fallback !== null && `, then ${model.fallback}`}
          </dd>
        </div>
        <div>
          <dt>Keys</dt>
          <dd>
            <Uses keys={model.keys} unlimited={unlimited} />
          </dd>
        </div>
      </dl>
      <Prices model={model} currency={currency} />
    </section>
  )
}

const mostNamed = 5

function Uses({ keys, unlimited }: { readonly keys: ConfiguredModelJson['keys']; readonly unlimited: number }) {
  const named = keys.slice(0, mostNamed)
  const more = keys.length - named.length
  return (
    <>
      {named.map(({ id, name, account }) => (
        <span key={id} className={classes.use}>
          {name} (<Link to={`/accounts/${account.id}`}>{account.name}</Link>){' '}
        </span>
      ))}
      {more > 0 && <span className={classes.use}>and {numberText(more)} more</span>}
      <span className={classes.use}>{counted(unlimited, 'key')} for every model</span>
    </>
  )
}
