import { patches, tiles, type Vendor } from './vendor.ts'

export const openAi: Vendor = {
  // It takes `max_completion_tokens` for all of its models. Many other servers ignore it, and an unlimited reply is the worse failure.
  // No model has a temperature that nobody set: what is sent is in upstream/chat/chat-request.ts.
  form: { hosts: /^api\.openai\.com$|\.openai\.azure\.com$/, bound: 'max_completion_tokens' },
  // Models that reason refuse both. Gateways name models with a prefix.
  models: /^(?:chatgpt-4o|gpt-(?:3\.5|4))/i,
  accepts: { logprobs: true, choices: true },
  images: [
    [/^gpt-4o-mini/, tiles(2833, 5667)],
    [/^gpt-(?:4\.1|5)-mini/, patches(32, 1536, 1.62)],
    [/^gpt-(?:4\.1|5)-nano/, patches(32, 1536, 2.46)],
    [/^(?:o4-mini|codex-mini)/, patches(32, 1536, 1.72)],
    [/^gpt-[\d.]+-mini/, patches(32, 2500, 1.62)],
    [/^gpt-[\d.]+-nano/, patches(32, 2500, 2.46)],
    [/^(?:chatgpt-4o|gpt-4)/, tiles(85, 170)],
    [/^o[13]/, tiles(75, 150)],
    [/^gpt-5(?:-|$)/, tiles(70, 140)],
  ],
  encodings: [
    [/^(?:chatgpt-4o|gpt-(?:4o|4\.1|4\.5|[5-9]|oss)|o\d)/, 'o200k_base'],
    [/^(?:gpt-(?:4|3\.5)|text-embedding-(?:3|ada))/, 'cl100k_base'],
  ],
}
