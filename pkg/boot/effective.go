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
	Args []string `arg:"" optional:"" help:"The command and its flags; the default is serve. Begin with --output=json to print JSON."`
}

// split returns the arguments without the config command itself, and the output format, which is the
// first argument after it. Flags after that are those of the command that is checked.
func (c *ConfigCommand) split(args []string) (others []string, output Output) {
	others, rest := append(others, args[:len(args)-len(c.Args)-1]...), c.Args
	if len(rest) > 0 && rest[0] == "--"+outputFlag+"=json" {
		output.Format, rest = "json", rest[1:]
	}
	if len(rest) == 0 || strings.HasPrefix(rest[0], "-") {
		others = append(others, "serve")
	}
	return append(others, rest...), output
}

// effectiveSetting is a setting with its value and source.
type effectiveSetting struct {
	name   string
	value  *yaml.Node
	source string
}

// effectiveSettings returns the settings of a command line, with hidden secrets.
func effectiveSettings(parsed *kong.Context, config *configValues) []effectiveSetting {
	given := map[*kong.Flag]bool{}
	for _, at := range parsed.Path {
		if at.Flag != nil && !at.Resolved {
			given[at.Flag] = true
		}
	}
	var settings []effectiveSetting
	add := func(node *kong.Node) {
		for _, flag := range settingFlags(node) {
			if value := valueNode(flag.Target); value != nil && flag.Name != "config" {
				settings = append(settings, effectiveSetting{flag.Name, value, settingSource(flag, given[flag], config)})
			}
		}
	}
	add(parsed.Model.Node)
	for _, at := range parsed.Path {
		if at.Command != nil {
			add(at.Command)
		}
	}
	return settings
}

// writeEffective writes the effective settings as YAML, each with its source. The output is a valid
// settings file, except for secrets, which are hidden. The JSON output is an object with the value
// and the source of each setting.
func writeEffective(w io.Writer, output Output, settings []effectiveSetting) error {
	if output.JSON() {
		type sourced struct {
			Value  any    `json:"value"`
			Source string `json:"source"`
		}
		byName := map[string]sourced{}
		for _, s := range settings {
			var value any
			if err := s.value.Decode(&value); err != nil {
				return fmt.Errorf("--%s: %w", s.name, err)
			}
			byName[s.name] = sourced{value, s.source}
		}
		return output.Print(w, byName, nil)
	}
	out := &yaml.Node{Kind: yaml.MappingNode}
	for _, s := range settings {
		s.value.LineComment = s.source
		out.Content = append(out.Content, textNode(s.name), s.value)
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
