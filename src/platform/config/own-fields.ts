/**
 * Fields of requests that `models[].pass` may not name. Tollgate reads the first ones for every model, or refuses them because it cannot do what
 * they ask for. The others would let a reply have more tokens than are held, come from another model, cost more, or be kept.
 */
const ofTheApis = `
audio background billing_policy cache_control client_metadata compaction container context_management conversation debug diagnostics
fallback_credit_token fallbacks function_call functions guardrails image_config include include_reasoning inference_geo input instructions
max_completion_tokens max_output_tokens max_tokens max_tool_calls mcp_servers messages metadata modalities model models moderation
output_config output_format parallel_tool_calls plugins prediction previous_response_id prompt prompt_cache_key prompt_cache_options
prompt_cache_retention prompt_mode random_seed reasoning reasoning_effort response_format route safe_prompt safety_identifier seed
service_tier session_id speed stop stop_sequences stop_server_tools_when store
stream stream_options system temperature text thinking thread tool_choice tools top_p trace truncation user user_profile_id
verbosity web_search_options workspace_id
`
const ofServers = `
add_generation_prompt best_of continue_final_message echo max_new_tokens n_predict num_predict preset return_token_ids
use_beam_search usage
`

export const ownFields: ReadonlySet<string> = new Set(`${ofTheApis} ${ofServers}`.trim().split(/\s+/))
