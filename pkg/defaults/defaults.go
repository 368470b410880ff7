// Package defaults fills in missing settings from the default tags, which the command line uses
// too. So each default is declared in one place.
package defaults

import (
	"encoding"
	"fmt"
	"reflect"
	"strconv"
	"time"
)

// Fill returns the settings with the defaults of their tags in place of empty texts, of numbers and
// durations that are not positive, and of zero values that are parsed from text. It leaves
// booleans, and embedded structs, which their own packages fill. It panics if a tag does not fit
// its field; a test of the package with the settings detects that.
func Fill[T any](settings T) T {
	v := reflect.ValueOf(&settings).Elem()
	for i := range v.NumField() {
		field := v.Type().Field(i)
		text, ok := field.Tag.Lookup("default")
		if !ok || !field.IsExported() {
			continue
		}
		if err := fill(v.Field(i), text); err != nil {
			panic(fmt.Sprintf("defaults: %T.%s: %v", settings, field.Name, err))
		}
	}
	return settings
}

func fill(v reflect.Value, text string) error {
	if reader, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		if !v.IsZero() {
			return nil
		}
		return reader.UnmarshalText([]byte(text))
	}
	switch {
	case v.Type() == reflect.TypeFor[time.Duration]():
		if v.Int() > 0 {
			return nil
		}
		d, err := time.ParseDuration(text)
		v.SetInt(int64(d))
		return err
	case v.CanInt():
		if v.Int() > 0 {
			return nil
		}
		n, err := strconv.ParseInt(text, 10, v.Type().Bits())
		v.SetInt(n)
		return err
	case v.CanUint():
		if v.Uint() > 0 {
			return nil
		}
		n, err := strconv.ParseUint(text, 10, v.Type().Bits())
		v.SetUint(n)
		return err
	case v.CanFloat():
		if v.Float() > 0 {
			return nil
		}
		n, err := strconv.ParseFloat(text, v.Type().Bits())
		v.SetFloat(n)
		return err
	case v.Kind() == reflect.String:
		if v.Len() == 0 {
			v.SetString(text)
		}
		return nil
	case v.Kind() == reflect.Bool:
		return nil
	}
	return fmt.Errorf("a setting of type %s has no default", v.Type())
}
