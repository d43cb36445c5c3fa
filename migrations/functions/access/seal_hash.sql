-- The hash of a seal, which covers the one before.
create or replace function seal_hash(p_previous bytea, p_seal seal) returns bytea language sql stable set search_path from current as $$
  select sha256(p_previous || convert_to(jsonb_build_array(p_seal.chain, p_seal.number, p_seal.upto, p_seal.rows,
    p_seal.columns, (extract(epoch from p_seal.at) * 1000000)::bigint, encode(p_seal.digest, 'hex'),
    p_seal.checksum)::text, 'UTF8'))
$$;
