-- Why a call was refused, without any text of a customer: the field, the reason, the route, the dialect, the caller's program and whether
-- it asked for a stream. Null for requests of versions before this one.
alter table refused_request add column call jsonb;
