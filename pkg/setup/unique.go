package setup

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// storeUnique records the unique texts of a stored resource, and returns an error if another
// resource has one of them. It waits for transactions that store the same text.
func (k *Kind[T]) storeUnique(ctx context.Context, tx pgx.Tx, id int64, resource T) error {
	if len(k.unique) == 0 {
		return nil
	}
	tenantID := tenant.Of(ctx)
	var properties, values []string
	var fields []protoreflect.FieldDescriptor
	for _, f := range k.unique {
		if text := resource.ProtoReflect().Get(f).String(); text != "" {
			fields, properties, values = append(fields, f), append(properties, string(f.Name())), append(values, text)
		}
	}
	if _, err := tx.Exec(ctx, deleteUnique, tenantID, k.Table, id, properties, values); err != nil {
		return fmt.Errorf("%s: delete unique texts: %w", k.Table, err)
	}
	for i, property := range properties {
		done, err := tx.Exec(ctx, insertUnique, tenantID, k.Table, property, values[i], id)
		if err != nil {
			return fmt.Errorf("%s: store unique texts: %w", k.Table, err)
		}
		if done.RowsAffected() > 0 {
			continue
		}
		var holder int64
		if err := tx.QueryRow(ctx, uniqueHolder, tenantID, k.Table, property, values[i]).Scan(&holder); err != nil {
			return fmt.Errorf("%s: find a unique text: %w", k.Table, err)
		}
		if holder == id {
			continue
		}
		return k.textTaken(ctx, tx, holder, fields[i], values[i])
	}
	return nil
}

// textTaken returns the error for a unique text that the resource with an id has.
func (k *Kind[T]) textTaken(ctx context.Context, tx pgx.Tx, holder int64, f protoreflect.FieldDescriptor, value string) error {
	names, err := k.readNames(ctx, tx, []int64{holder})
	if err != nil {
		return err
	}
	return k.takenError(fmt.Sprintf("The %s %q has the %s %.100q already.", k.What, names[holder], f.JSONName(), value), f)
}

// forget deletes the references and unique texts of a deleted resource.
func (k *Kind[T]) forget(ctx context.Context, tx pgx.Tx, id int64) error {
	if len(k.references) > 0 {
		if _, err := tx.Exec(ctx, deleteReferences, tenant.Of(ctx), k.Table, id, nil, nil); err != nil {
			return fmt.Errorf("%s: delete references: %w", k.Table, err)
		}
	}
	if len(k.unique) > 0 {
		if _, err := tx.Exec(ctx, deleteUnique, tenant.Of(ctx), k.Table, id, nil, nil); err != nil {
			return fmt.Errorf("%s: delete unique texts: %w", k.Table, err)
		}
	}
	return nil
}
