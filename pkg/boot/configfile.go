package boot

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"
)

// maxConfigFile bounds the size of a settings file, in bytes.
const maxConfigFile = 1 << 20

// ConfigFile is the path of a YAML file of settings, a mapping of their names to texts, numbers,
// booleans or lists of these:
//
//	listen: ":8443"
//	trusted-proxies: [10.0.0.0/8]
//
// A flag, a variable, and the file that a variable names take precedence over it. A name that no
// command of the program has is an error: otherwise a misspelled setting would be ignored.
type ConfigFile string

// BeforeResolve reads the file before the values of missing flags are resolved.
func (ConfigFile) BeforeResolve(ctx *kong.Context, at *kong.Path, into *configValues) error {
	path, ok := ctx.FlagValue(at.Flag).(ConfigFile)
	if !ok || path == "" {
		return nil
	}
	values, err := readConfigFile(string(path), settingsByName(ctx.Model.Node))
	if err != nil {
		return fmt.Errorf("--%s: %w", at.Flag.Name, err)
	}
	into.values = values
	ctx.AddResolver(into)
	return nil
}

// configValues are the settings of a file, by name.
type configValues struct {
	values map[string]string
	lookup func(variable string) (string, bool)
}

// Validate does nothing: reading the file has checked the names.
func (*configValues) Validate(*kong.Application) error { return nil }

// Resolve returns the value of a setting, unless its variable or the variable of its file is set.
func (c *configValues) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	value, ok := c.values[flag.Name]
	if !ok || c.variable(flag) != "" {
		return nil, nil //nolint:nilnil // Resolvers return this for an unknown setting.
	}
	return value, nil
}

// variable returns the name of the variable that sets a flag, or that names its file, or "".
func (c *configValues) variable(flag *kong.Flag) string {
	for _, name := range flag.Envs {
		if _, ok := c.lookup(name); ok {
			return name
		}
		if path, ok := c.lookup(name + "_FILE"); ok && path != "" {
			return name + "_FILE"
		}
	}
	return ""
}

// settingsByName returns the settings of all commands of a program.
func settingsByName(node *kong.Node) map[string]*kong.Flag {
	found := map[string]*kong.Flag{}
	for _, flag := range settingFlags(node) {
		found[flag.Name] = flag
	}
	for _, child := range node.Children {
		for name, flag := range settingsByName(child) {
			found[name] = flag
		}
	}
	// A file cannot name another file: the precedence would be unclear.
	delete(found, "config")
	return found
}

func readConfigFile(path string, known map[string]*kong.Flag) (map[string]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxConfigFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxConfigFile {
		return nil, fmt.Errorf("%s holds more than %d bytes", path, maxConfigFile)
	}
	values, err := parseConfig(text, known)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return values, nil
}

// parseConfig reads a mapping of settings. It keeps values as text, so that each setting parses its
// value in the same way as from a flag.
func parseConfig(text []byte, known map[string]*kong.Flag) (map[string]string, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document yaml.Node
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return nil, nil // An empty file sets nothing.
	} else if err != nil {
		return nil, err
	}
	if err := decoder.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return nil, errors.New("it has more than one document")
	}
	top := document.Content[0]
	if top.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: write settings as name: value", top.Line)
	}
	values := map[string]string{}
	for pair := range slices.Chunk(top.Content, 2) {
		name, line := pair[0].Value, pair[0].Line
		flag := known[name]
		if flag == nil {
			return nil, fmt.Errorf("line %d: there is no setting %q; the command settings lists them", line, name)
		}
		if _, twice := values[name]; twice {
			return nil, fmt.Errorf("line %d: %s is set twice", line, name)
		}
		value, err := configValue(pair[1], flag)
		if err != nil {
			return nil, fmt.Errorf("line %d: %s: %w", line, name, err)
		}
		values[name] = value
	}
	return values, nil
}

// configValue returns a value in the form of a flag.
func configValue(node *yaml.Node, flag *kong.Flag) (string, error) {
	switch {
	case node.Kind == yaml.ScalarNode && node.Tag != "!!null":
		return node.Value, nil
	case node.Kind == yaml.SequenceNode && flag.IsSlice():
		items := make([]string, len(node.Content))
		for i, item := range node.Content {
			if item.Kind != yaml.ScalarNode || item.Tag == "!!null" {
				return "", errors.New("an item of a list must be a text, a number, true or false")
			}
			items[i] = item.Value
		}
		return kong.JoinEscaped(items, flag.Tag.Sep), nil
	case flag.IsSlice():
		return "", errors.New("it takes a value or a list of values")
	default:
		return "", errors.New("it takes one value")
	}
}
