-- The audit log without the rows that record only that something was shown: see src/access/audit-store.ts.
create index audit_without_views on audit (id) where action !~ '(_read|_listed|_searched)$';
