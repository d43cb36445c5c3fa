-- 64 bits of a hash, as a number.
create or replace function hash_part(p_hash bytea, p_part integer) returns numeric language sql immutable
return ('x' || encode(substring(p_hash from 8 * p_part + 1 for 8), 'hex'))::bit(64)::bigint::numeric;
