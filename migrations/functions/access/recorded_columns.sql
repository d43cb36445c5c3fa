-- The tables, the columns that identify their rows, and those whose changes are recorded. The file of record_all() begins the records
-- of new tables; a change of the columns of a table needs a call of it.
create or replace function recorded_columns() returns table (table_name text, keys text[], columns text[])
language sql immutable set search_path from current as $$
  values ('alert_rule', '{id}'::text[], '{account_id,shares,email,webhook,secret,removed_at}'::text[]),
    ('batch_alert', '{rule_id}', '{rule_id}'),
    ('books_currency', '{only_row}', '{currency}'),
    ('closed_month', '{month}', '{month}'),
    ('credit_entry', '{id}', '{account_id,amount,note}'),
    ('draft', '{id}', '{client_id,created_by,instructions,sources,model,subject,rewrites,rewrites_version}'),
    ('encryption_check', '{only_row}', '{encrypted}'),
    ('erasure', '{id}', '{client_id,reason,due_at,scheduled_by,withdrawn_at,withdrawn_by}'),
    ('identity', '{id}', '{issuer,subject,person_id}'),
    ('invitation', '{id}', '{email,email_key,name,role,invited_by,token_hash,expires_at,person_id,accepted_at,withdrawn_at}'),
    ('invoice_payment', '{id}', '{invoice_id,date,amount,method,reference,reverses_id,by}'),
    ('invoice_series', '{name}', '{last}'),
    ('letter_approval', '{only_row}', '{rule}'),
    ('letter_template', '{id}', '{kind,name,instructions,is_default,removed_at,version}'),
    ('letter_template_revision', '{template_id,version}', '{data,person_id,removed}'),
    ('number_key', '{}', '{key}'),
    ('passkey', '{id}', '{person_id,rp_id,credential_id,public_key,transports}'),
    ('passkey_owner', '{person_id}', '{handle}'),
    ('password', '{person_id}', '{hash,changed_at}'),
    ('person', '{id}', '{name,email,email_key,role,status,deleted_at}'),
    ('phone', '{person_id}', '{number,verified_at}'),
    ('price', '{number}', '{model,valid_from,input,output,cached_input,cache_write,source,scheduled}'),
    ('recovery_code', '{person_id,hash}', '{hash}'),
    ('totp', '{person_id}', '{secret}'),
    -- Recorded as its document: recorded_row().
    ('invoice', '{id}', '{kind,state,account_id,client_id,month,credits_id,currency,decimals,note,buyer_name,buyer_address,buyer_tax_number,buyer_place,buyer_reference,order_number,days_to_pay,language,net,tax,gross,taxes,number,series,series_number,seller,issued_on,issued_at,issued_by,due_on,supply_from,supply_to,created_at,created_by,version,updated_at,updated_by}'),
    ('session', '{id}', '{hash,person_id,method,provider,provider_sid,issuer,subject,id_token,factors,device,network,created_at,proven_at,ends_at}'),
    ('account_grant', '{person_id,account_id}', '{account_id}'),
    ('budget', '{id}', '{account_id,name,tag_name,tag_value,period,time_zone,hard,amount,raised_by,raised_until}'),
    ('budget_key', '{budget_id,key_id}', '{key_id}'),
    -- Last, so that a migration that waits for others does not keep the till waiting.
    ('api_key', '{id}', '{account_id,person_id,public_id,secret_hash,name,allowed_models,expires_at,limit_id,replaced_by,revoked_at}'),
    ('key_limit', '{id}', '{account_id,requests_per_minute,tokens_per_minute,daily_budget,monthly_budget}'),
    ('account', '{id}', '{name,own,status,closed_at,limits_keys,requests_per_minute,tokens_per_minute,monthly_limit,billing_name,billing_address,billing_tax_number,billing_email}')
$$;
