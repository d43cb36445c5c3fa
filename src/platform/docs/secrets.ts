/** Where the samples in JavaScript have their secrets. This service reads neither. */
export const nodeSecrets = { key: 'process.env.TOLLGATE_KEY', session: 'process.env.TOLLGATE_SESSION' } as const
