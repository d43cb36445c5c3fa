-- The checksum of daily roll-ups: their requests, tokens and cost, each multiplied by 64 bits of a hash that names the roll-up.
-- The ledger's rows and the roll-ups have the same checksum, and the checksum of a sealed range is in its seal, so the
-- roll-ups can be compared with the ledger without reading it.
create or replace function usage_hash(p_account_id uuid, p_day date, p_key_id uuid, p_person_id uuid, p_model text, p_client_id uuid)
returns bytea language sql immutable
return sha256(convert_to((p_day - date '2000-01-01')::text || '/' || p_account_id::text || '/' || coalesce(p_key_id::text, '')
  || '/' || coalesce(p_person_id::text, '') || '/' || coalesce(p_client_id::text, '') || '/' || p_model, 'UTF8'));
