package boot

import (
	"encoding"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"

	"github.com/rotaloom/rotaloom/pkg/obs"
)

// ConfigCommand prints the settings that a command would run with. It checks them like that
// command, and starts nothing.
type ConfigCommand struct {
	Args []string `arg:"" optional:"" help:"The command and its flags; the default is serve."`
}

// withoutConfig returns the arguments without the config command itself.
func (c *ConfigCommand) withoutConfig(args []string) []string {
	at := len(args) - len(c.Args) - 1
	others := append([]string{}, args[:at]...)
	if len(c.Args) == 0 || strings.HasPrefix(c.Args[0], "-") {
		others = append(others, "serve")
	}
	return append(others, c.Args...)
}

// writeEffective writes the effective settings as YAML, each with its source. The output is a valid
// settings file, except for secrets, which are hidden.
func writeEffective(w io.Writer, parsed *kong.Context, config *configValues) error {
	given := map[*kong.Flag]bool{}
	for _, at := range parsed.Path {
		if at.Flag != nil && !at.Resolved {
			given[at.Flag] = true
		}
	}
	out := &yaml.Node{Kind: yaml.MappingNode}
	write := func(node *kong.Node) {
		for _, flag := range settingFlags(node) {
			value := valueNode(flag.Target)
			if value == nil || flag.Name == "config" {
				continue
			}
			value.LineComment = settingSource(flag, given[flag], config)
			out.Content = append(out.Content, textNode(flag.Name), value)
		}
	}
	write(parsed.Model.Node)
	for _, at := range parsed.Path {
		if at.Command != nil {
			write(at.Command)
		}
	}
	encoder := yaml.NewEncoder(w)
	if err := encoder.Encode(out); err != nil {
		return err
	}
	return encoder.Close()
}

// settingSource returns the source of the value of a setting.
func settingSource(flag *kong.Flag, given bool, config *configValues) string {
	if given {
		return "flag"
	}
	if variable := config.variable(flag); variable != "" {
		return variable
	}
	if _, ok := config.values[flag.Name]; ok {
		return "file"
	}
	return "default"
}

func textNode(text string) *yaml.Node {
	node := &yaml.Node{}
	node.SetString(text)
	return node
}

// valueNode returns a value in the form of a settings file, or nil if there is no value.
func valueNode(value reflect.Value) *yaml.Node {
	if value.Kind() == reflect.Pointer {
		if value.IsNil() {
			return nil
		}
		value = value.Elem()
	}
	switch typed := value.Interface().(type) {
	case obs.Secret:
		return textNode(typed.String())
	case time.Duration:
		return textNode(typed.String())
	case encoding.TextMarshaler:
		text, err := typed.MarshalText()
		if err != nil {
			return textNode(fmt.Sprint(typed))
		}
		return textNode(string(text))
	}
	if value.Kind() == reflect.Slice {
		list := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for i := range value.Len() {
			if item := valueNode(value.Index(i)); item != nil {
				list.Content = append(list.Content, item)
			}
		}
		return list
	}
	var node yaml.Node
	if err := node.Encode(value.Interface()); err != nil {
		return textNode(fmt.Sprint(value.Interface()))
	}
	return &node
}
