-- Stand-ins for what `duograph distribute` uses of Citus, on plain PostgreSQL: nothing is distributed. They
-- record what each table was made, and refuse what a cluster of Citus 13 was seen to refuse, in its words.

CREATE TABLE pg_dist_node (groupid int, noderole text, isactive boolean, shouldhaveshards boolean);
CREATE TABLE distributed (table_name regclass PRIMARY KEY, citus_table_type text, shard_count int);
-- Without tables that were dropped.
CREATE VIEW citus_tables AS SELECT * FROM distributed WHERE table_name IN (SELECT oid FROM pg_class);
CREATE TABLE commands_on_nodes (command text);

CREATE FUNCTION kind_of(regclass) RETURNS text LANGUAGE sql AS
    $$ SELECT coalesce((SELECT citus_table_type FROM distributed WHERE table_name = $1), 'local') $$;

CREATE FUNCTION create_reference_table(name regclass) RETURNS void LANGUAGE sql AS
    $$ INSERT INTO distributed VALUES (name, 'reference', 1) $$;

CREATE FUNCTION create_distributed_table(
    name regclass, by text, colocate_with text DEFAULT 'default', shard_count int DEFAULT NULL
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE shards int := shard_count;
BEGIN
    IF EXISTS (SELECT FROM pg_constraint WHERE contype = 'f' AND conrelid = name AND confrelid <> name
               AND kind_of(confrelid) NOT IN ('distributed', 'reference')) THEN
        RAISE 'referenced table must be a distributed table or a reference table';
    END IF;
    IF EXISTS (SELECT FROM pg_constraint WHERE contype = 'f' AND confrelid = name AND conrelid <> name
               AND kind_of(conrelid) <> 'distributed') THEN
        RAISE 'cannot create foreign key constraint since foreign keys from reference tables and local tables to distributed tables are not supported';
    END IF;
    IF colocate_with <> 'none' THEN
        SELECT d.shard_count INTO STRICT shards FROM distributed d
            WHERE d.table_name = colocate_with::regclass AND citus_table_type = 'distributed';
    END IF;
    INSERT INTO distributed VALUES (name, 'distributed', shards);
END $$;

CREATE FUNCTION run_command_on_all_nodes(command text) RETURNS TABLE (nodeid int, success boolean, result text)
LANGUAGE sql AS $$
    INSERT INTO commands_on_nodes SELECT command WHERE command NOT LIKE 'SHOW %';
    SELECT 1, true, CASE WHEN EXISTS (SELECT FROM commands_on_nodes) THEN 'off' ELSE 'on' END;
$$;

CREATE FUNCTION citus_total_relation_size(name regclass) RETURNS bigint LANGUAGE sql AS
    $$ SELECT pg_total_relation_size(name) $$;

-- A distributed table has one shard, itself.
CREATE FUNCTION run_command_on_shards(name regclass, command text)
RETURNS TABLE (shardid bigint, success boolean, result text) LANGUAGE plpgsql AS $$
BEGIN
    shardid := 1;
    success := true;
    EXECUTE replace(command, '%s', name::text) INTO result;
    RETURN NEXT;
END $$;
