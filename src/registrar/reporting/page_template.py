"""The template of the page, as Jinja compiles it: made by `scripts/generate`; do not edit."""
# mypy: ignore-errors

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = None

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_page = resolve('page')
    l_0_language = resolve('language')
    l_0_style_hash = resolve('style_hash')
    l_0_script_hash = resolve('script_hash')
    l_0_title = resolve('title')
    l_0_style = resolve('style')
    l_0_read = resolve('read')
    l_0_next_steps = resolve('next_steps')
    l_0_t = resolve('t')
    l_0_percent = resolve('percent')
    l_0_words_of_shades = resolve('words_of_shades')
    l_0_paths = resolve('paths')
    l_0_rows = resolve('rows')
    l_0_more = resolve('more')
    l_0_contents = resolve('contents')
    l_0_contents_title = resolve('contents_title')
    l_0_script = resolve('script')
    l_0_bars = l_0_totals = l_0_tiles = l_0_listed = l_0_several = l_0_groups = l_0_bar = l_0_data = l_0_name = l_0_pull_request = missing
    try:
        t_1 = environment.filters['length']
    except KeyError:
        @internalcode
        def t_1(*unused):
            raise TemplateRuntimeError("No filter named 'length' found.")
    try:
        t_2 = environment.filters['safe']
    except KeyError:
        @internalcode
        def t_2(*unused):
            raise TemplateRuntimeError("No filter named 'safe' found.")
    try:
        t_3 = environment.filters['sum']
    except KeyError:
        @internalcode
        def t_3(*unused):
            raise TemplateRuntimeError("No filter named 'sum' found.")
    pass
    l_0_bars = environment.getattr((undefined(name='page') if l_0_page is missing else l_0_page), 'bars')
    context.vars['bars'] = l_0_bars
    context.exported_vars.add('bars')
    l_0_totals = environment.getattr((undefined(name='page') if l_0_page is missing else l_0_page), 'totals')
    context.vars['totals'] = l_0_totals
    context.exported_vars.add('totals')
    l_0_tiles = environment.getattr((undefined(name='page') if l_0_page is missing else l_0_page), 'tiles')
    context.vars['tiles'] = l_0_tiles
    context.exported_vars.add('tiles')
    l_0_listed = context.call(environment.getattr((undefined(name='totals') if l_0_totals is missing else l_0_totals), 'total'))
    context.vars['listed'] = l_0_listed
    context.exported_vars.add('listed')
    l_0_several = (t_1(environment.getattr((undefined(name='page') if l_0_page is missing else l_0_page), 'lists')) > 1)
    context.vars['several'] = l_0_several
    context.exported_vars.add('several')
    l_0_groups = environment.getattr((undefined(name='page') if l_0_page is missing else l_0_page), 'groups')
    context.vars['groups'] = l_0_groups
    context.exported_vars.add('groups')
    def macro(l_1_counts, l_1_order):
        t_4 = []
        l_1_namespace = resolve('namespace')
        l_1_at = missing
        if l_1_counts is missing:
            l_1_counts = undefined("parameter 'counts' was not provided", name='counts')
        if l_1_order is missing:
            l_1_order = undefined("parameter 'order' was not provided", name='order')
        pass
        l_1_at = context.call((undefined(name='namespace') if l_1_namespace is missing else l_1_namespace), x=0)
        t_4.extend((
            '<svg viewBox="0 0 ',
            escape(context.call(environment.getattr(l_1_counts, 'total'))),
            ' 1" preserveAspectRatio="none" aria-hidden="true">',
        ))
        def t_5(fiter):
            for l_2_each in fiter:
                if environment.getitem(l_1_counts, l_2_each):
                    yield l_2_each
        for l_2_each in t_5(l_1_order):
            _loop_vars = {}
            pass
            t_4.extend((
                '<rect class="',
                escape(l_2_each),
                '" x="',
                escape(environment.getattr((undefined(name='at') if l_1_at is missing else l_1_at), 'x')),
                '" width="',
                escape(environment.getitem(l_1_counts, l_2_each)),
                '" height="1"/>',
            ))
            if not isinstance(l_1_at, Namespace):
                raise TemplateRuntimeError("cannot assign attribute on non-namespace object")
            l_1_at['x'] = (environment.getattr((undefined(name='at') if l_1_at is missing else l_1_at), 'x') + environment.getitem(l_1_counts, l_2_each))
        l_2_each = missing
        t_4.append(
            '</svg>',
        )
        return concat(t_4)
    context.exported_vars.add('bar')
    context.vars['bar'] = l_0_bar = Macro(environment, macro, 'bar', ('counts', 'order'), False, False, False, context.eval_ctx.autoescape)
    def macro(l_1_row):
        t_6 = []
        l_1_shown = resolve('shown')
        if l_1_row is missing:
            l_1_row = undefined("parameter 'row' was not provided", name='row')
        pass
        t_6.extend((
            'data-name="',
            escape(context.call((undefined(name='shown') if l_1_shown is missing else l_1_shown), environment.getattr(l_1_row, 'name'))),
            '" data-cells="',
            escape(environment.getattr(l_1_row, 'cells')),
            '"',
        ))
        l_2_loop = missing
        for l_2_value, l_2_loop in LoopContext(environment.getattr(l_1_row, 'properties'), undefined):
            _loop_vars = {}
            pass
            t_6.extend((
                ' data-property',
                escape(environment.getattr(l_2_loop, 'index0')),
                '="',
                escape(context.call((undefined(name='shown') if l_1_shown is missing else l_1_shown), l_2_value, _loop_vars=_loop_vars)),
                '"',
            ))
        l_2_loop = l_2_value = missing
        return concat(t_6)
    context.exported_vars.add('data')
    context.vars['data'] = l_0_data = Macro(environment, macro, 'data', ('row',), False, False, False, context.eval_ctx.autoescape)
    def macro(l_1_row):
        t_7 = []
        l_1_shown = resolve('shown')
        if l_1_row is missing:
            l_1_row = undefined("parameter 'row' was not provided", name='row')
        pass
        if environment.getattr(l_1_row, 'url'):
            pass
            t_7.extend((
                '<a href="',
                escape(environment.getattr(l_1_row, 'url')),
                '">',
                escape(context.call((undefined(name='shown') if l_1_shown is missing else l_1_shown), environment.getattr(l_1_row, 'name'))),
                '</a>',
            ))
        else:
            pass
            t_7.append(
                escape(context.call((undefined(name='shown') if l_1_shown is missing else l_1_shown), environment.getattr(l_1_row, 'name'))),
            )
        if (undefined(name='several') if l_0_several is missing else l_0_several):
            pass
            t_7.extend((
                ' <span class="soft">',
                escape(context.call((undefined(name='shown') if l_1_shown is missing else l_1_shown), environment.getattr(l_1_row, 'list_name'))),
                '</span>',
            ))
        return concat(t_7)
    context.exported_vars.add('name')
    context.vars['name'] = l_0_name = Macro(environment, macro, 'name', ('row',), False, False, False, context.eval_ctx.autoescape)
    def macro(l_1_row):
        t_8 = []
        l_1_shown = resolve('shown')
        if l_1_row is missing:
            l_1_row = undefined("parameter 'row' was not provided", name='row')
        pass
        if environment.getattr(l_1_row, 'pull_request'):
            pass
            t_8.extend((
                '<a href="',
                escape(environment.getattr(l_1_row, 'pull_request')),
                '">#',
                escape(environment.getitem(context.call(environment.getattr(environment.getattr(l_1_row, 'pull_request'), 'rpartition'), '/'), 2)),
                '</a>',
            ))
            if environment.getattr(l_1_row, 'remark'):
                pass
                t_8.extend((
                    ' <span class="soft">',
                    escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), environment.getattr(l_1_row, 'remark'))),
                    '</span>',
                ))
            if environment.getattr(l_1_row, 'conflicts'):
                pass
                t_8.extend((
                    ' <span class="soft">',
                    escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'many.state_with_conflict', paths=environment.getattr(l_1_row, 'conflicts'))),
                    '</span>',
                ))
        if environment.getattr(l_1_row, 'left_branch'):
            pass
            t_8.extend((
                '<span class="soft">',
                escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.left_branch')),
                '</span> <a href="',
                escape(environment.getattr(l_1_row, 'left_url')),
                '"><code>',
                escape(context.call((undefined(name='shown') if l_1_shown is missing else l_1_shown), environment.getattr(l_1_row, 'left_branch'))),
                '</code></a>',
            ))
        return concat(t_8)
    context.exported_vars.add('pull_request')
    context.vars['pull_request'] = l_0_pull_request = Macro(environment, macro, 'pull_request', ('row',), False, False, False, context.eval_ctx.autoescape)
    yield '<!doctype html>\n<html lang="'
    yield escape((undefined(name='language') if l_0_language is missing else l_0_language))
    yield '">\n<head>\n<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src \''
    yield escape((undefined(name='style_hash') if l_0_style_hash is missing else l_0_style_hash))
    yield "'; script-src '"
    yield escape((undefined(name='script_hash') if l_0_script_hash is missing else l_0_script_hash))
    yield '\'; img-src data:; base-uri \'none\'; form-action \'none\'">\n<meta name="referrer" content="no-referrer">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>'
    yield escape((undefined(name='title') if l_0_title is missing else l_0_title))
    yield '</title>\n<link rel="icon" href="data:,">\n<style>'
    yield escape(t_2((undefined(name='style') if l_0_style is missing else l_0_style)))
    yield '</style>\n</head>\n<body>\n<header>\n<h1>'
    yield escape((undefined(name='title') if l_0_title is missing else l_0_title))
    yield '</h1>\n<p class="soft">'
    yield escape((undefined(name='read') if l_0_read is missing else l_0_read))
    yield '</p>\n</header>\n<main>\n'
    if (undefined(name='next_steps') if l_0_next_steps is missing else l_0_next_steps):
        pass
        yield '<ul class="steps">\n'
        for l_1_step in (undefined(name='next_steps') if l_0_next_steps is missing else l_0_next_steps):
            _loop_vars = {}
            pass
            yield '<li>'
            yield escape(l_1_step)
            yield '</li>\n'
        l_1_step = missing
        yield '</ul>\n'
    yield '<ul class="cards">\n'
    for (l_1_name, l_1_count) in (('complete', context.call(environment.getattr((undefined(name='page') if l_0_page is missing else l_0_page), 'reach'), 'COMPLETE')), ('done', context.call(environment.getattr((undefined(name='page') if l_0_page is missing else l_0_page), 'reach'), 'DONE'))):
        _loop_vars = {}
        pass
        yield '<li><strong>'
        yield escape(l_1_count)
        yield ' / '
        yield escape(environment.getattr((undefined(name='page') if l_0_page is missing else l_0_page), 'read'))
        yield '</strong> '
        yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.of_repositories', state=context.call((undefined(name='t') if l_0_t is missing else l_0_t), markup_join(('page.', l_1_name, )), _loop_vars=_loop_vars), percent=context.call((undefined(name='percent') if l_0_percent is missing else l_0_percent), l_1_count, environment.getattr((undefined(name='page') if l_0_page is missing else l_0_page), 'read'), _loop_vars=_loop_vars), _loop_vars=_loop_vars))
        yield '</li>\n'
    l_1_name = l_1_count = missing
    if environment.getattr((undefined(name='page') if l_0_page is missing else l_0_page), 'failed'):
        pass
        yield '<li><strong>'
        yield escape(environment.getattr((undefined(name='page') if l_0_page is missing else l_0_page), 'failed'))
        yield '</strong> <span class="failed key"></span>'
        yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.of_repositories', state=context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.failed'), percent=context.call((undefined(name='percent') if l_0_percent is missing else l_0_percent), environment.getattr((undefined(name='page') if l_0_page is missing else l_0_page), 'failed'), environment.getattr((undefined(name='page') if l_0_page is missing else l_0_page), 'read'))))
        yield '</li>\n'
    def t_9(fiter):
        l_1_shades = resolve('shades')
        for l_1_each in fiter:
            if (l_1_each not in (undefined(name='shades') if l_1_shades is missing else l_1_shades)):
                yield l_1_each
    for l_1_each in t_9((undefined(name='bars') if l_0_bars is missing else l_0_bars)):
        l_1_bar_words = resolve('bar_words')
        l_1_shades = resolve('shades')
        _loop_vars = {}
        pass
        yield '<li><strong>'
        yield escape(environment.getitem((undefined(name='tiles') if l_0_tiles is missing else l_0_tiles), l_1_each))
        yield '</strong> <span class="'
        yield escape(l_1_each)
        yield ' key"></span>'
        yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.of_files', state=environment.getitem((undefined(name='bar_words') if l_1_bar_words is missing else l_1_bar_words), l_1_each), percent=context.call((undefined(name='percent') if l_0_percent is missing else l_0_percent), environment.getitem((undefined(name='tiles') if l_0_tiles is missing else l_0_tiles), l_1_each), (undefined(name='listed') if l_0_listed is missing else l_0_listed), _loop_vars=_loop_vars), _loop_vars=_loop_vars))
        yield '\n'
        if (l_1_each == 'present'):
            pass
            def t_10(fiter):
                for l_2_shade in fiter:
                    if environment.getitem((undefined(name='totals') if l_0_totals is missing else l_0_totals), l_2_shade):
                        yield l_2_shade
            for l_2_shade in t_10((undefined(name='shades') if l_1_shades is missing else l_1_shades)):
                _loop_vars = {}
                pass
                yield '<p class="soft"><span class="'
                yield escape(l_2_shade)
                yield ' key"></span>'
                yield escape(environment.getitem((undefined(name='bar_words') if l_1_bar_words is missing else l_1_bar_words), l_2_shade))
                yield ': '
                yield escape(environment.getitem((undefined(name='totals') if l_0_totals is missing else l_0_totals), l_2_shade))
                yield '</p>'
            l_2_shade = missing
        yield '</li>\n'
    l_1_each = l_1_bar_words = l_1_shades = missing
    yield '</ul>\n<p class="soft">'
    yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.legend_of_repositories'))
    yield '</p>\n<p class="soft">'
    yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.legend'))
    yield '</p>\n'
    if (undefined(name='words_of_shades') if l_0_words_of_shades is missing else l_0_words_of_shades):
        pass
        yield '<p class="soft">'
        yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.parts_of_present', states=(undefined(name='words_of_shades') if l_0_words_of_shades is missing else l_0_words_of_shades)))
        yield '</p>\n'
    yield '\n<h2 id="by-path">'
    yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.by_path'))
    yield '</h2>\n<div class="scroll" role="region" aria-labelledby="by-path" tabindex="0">\n<table>\n<thead><tr><th scope="col">'
    yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.path'))
    yield '</th><th scope="col" class="number">'
    yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.share'))
    yield '</th>'
    for l_1_each in (undefined(name='bars') if l_0_bars is missing else l_0_bars):
        l_1_bar_words = resolve('bar_words')
        _loop_vars = {}
        pass
        yield '<th scope="col" class="number part"><span class="'
        yield escape(l_1_each)
        yield ' key"></span>'
        yield escape(environment.getitem((undefined(name='bar_words') if l_1_bar_words is missing else l_1_bar_words), l_1_each))
        yield '</th>'
    l_1_each = l_1_bar_words = missing
    yield '<th scope="col" class="number">'
    yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.total'))
    yield '</th></tr></thead>\n<tbody>\n'
    for (l_1_path, l_1_counts) in context.call(environment.getattr(environment.getattr((undefined(name='page') if l_0_page is missing else l_0_page), 'paths'), 'items')):
        l_1_shown = resolve('shown')
        l_1_there = resolve('there')
        _loop_vars = {}
        pass
        yield '<tr><th scope="row"><code>'
        yield escape(context.call((undefined(name='shown') if l_1_shown is missing else l_1_shown), l_1_path, _loop_vars=_loop_vars))
        yield '</code>\n'
        yield escape(context.call((undefined(name='bar') if l_0_bar is missing else l_0_bar), l_1_counts, (undefined(name='bars') if l_0_bars is missing else l_0_bars), _loop_vars=_loop_vars))
        yield '</th>\n<td class="number">'
        yield escape(context.call((undefined(name='percent') if l_0_percent is missing else l_0_percent), context.call((undefined(name='there') if l_1_there is missing else l_1_there), l_1_counts, _loop_vars=_loop_vars), context.call(environment.getattr(l_1_counts, 'total'), _loop_vars=_loop_vars), _loop_vars=_loop_vars))
        yield '</td>'
        for l_2_each in (undefined(name='bars') if l_0_bars is missing else l_0_bars):
            _loop_vars = {}
            pass
            yield '<td class="number part">'
            yield escape((context.call((undefined(name='there') if l_1_there is missing else l_1_there), l_1_counts, _loop_vars=_loop_vars) if (l_2_each == 'present') else environment.getitem(l_1_counts, l_2_each)))
            yield '</td>'
        l_2_each = missing
        yield '<td class="number">'
        yield escape(context.call(environment.getattr(l_1_counts, 'total'), _loop_vars=_loop_vars))
        yield '</td></tr>\n'
    l_1_path = l_1_counts = l_1_shown = l_1_there = missing
    yield '</tbody>\n</table>\n</div>\n\n'
    l_1_loop = missing
    for (l_1_property, l_1_values), l_1_loop in LoopContext(context.call(environment.getattr((undefined(name='groups') if l_0_groups is missing else l_0_groups), 'items')), undefined):
        l_1_shown = resolve('shown')
        _loop_vars = {}
        pass
        yield '<h2 id="by-'
        yield escape(environment.getattr(l_1_loop, 'index0'))
        yield '">'
        yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.by_property', name=l_1_property, _loop_vars=_loop_vars))
        yield '</h2>\n<div class="scroll" role="region" aria-labelledby="by-'
        yield escape(environment.getattr(l_1_loop, 'index0'))
        yield '" tabindex="0">\n<table>\n<thead><tr><th scope="col">'
        yield escape(context.call((undefined(name='shown') if l_1_shown is missing else l_1_shown), l_1_property, _loop_vars=_loop_vars))
        yield '</th><th scope="col" class="number">'
        yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.complete_of', _loop_vars=_loop_vars))
        yield '</th><th scope="col" class="number">'
        yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.done_of', _loop_vars=_loop_vars))
        yield '</th></tr></thead>\n<tbody>\n'
        for l_2_group in l_1_values:
            _loop_vars = {}
            pass
            yield '<tr><th scope="row">'
            yield escape((context.call((undefined(name='shown') if l_1_shown is missing else l_1_shown), environment.getattr(l_2_group, 'value'), _loop_vars=_loop_vars) or context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.no_value', _loop_vars=_loop_vars)))
            yield '\n'
            yield escape(context.call((undefined(name='bar') if l_0_bar is missing else l_0_bar), environment.getattr(l_2_group, 'counts'), ('present', 'declined', 'to_create'), _loop_vars=_loop_vars))
            yield '</th>\n'
            for l_3_count in (environment.getattr(environment.getattr(l_2_group, 'counts'), 'present'), environment.getattr(l_2_group, 'done')):
                _loop_vars = {}
                pass
                yield '<td class="number">'
                yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.of', count=l_3_count, all=context.call(environment.getattr(environment.getattr(l_2_group, 'counts'), 'total'), _loop_vars=_loop_vars), _loop_vars=_loop_vars))
                yield ' <span class="part soft">'
                yield escape(context.call((undefined(name='percent') if l_0_percent is missing else l_0_percent), l_3_count, context.call(environment.getattr(environment.getattr(l_2_group, 'counts'), 'total'), _loop_vars=_loop_vars), _loop_vars=_loop_vars))
                yield '</span></td>'
            l_3_count = missing
            yield '</tr>\n'
        l_2_group = missing
        yield '</tbody>\n</table>\n</div>\n'
    l_1_loop = l_1_property = l_1_values = l_1_shown = missing
    yield '\n<h2>'
    yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.repositories'))
    yield '</h2>\n'
    if environment.getattr((undefined(name='page') if l_0_page is missing else l_0_page), 'hidden'):
        pass
        yield '<p>'
        yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.not_named', count=t_1(environment.getattr((undefined(name='page') if l_0_page is missing else l_0_page), 'hidden')), complete=context.call(environment.getattr((undefined(name='page') if l_0_page is missing else l_0_page), 'reach'), 'COMPLETE', hidden=True), done=context.call(environment.getattr((undefined(name='page') if l_0_page is missing else l_0_page), 'reach'), 'DONE', hidden=True)))
        yield '</p>\n'
    yield '<form id="controls" class="controls" hidden>\n<label>'
    yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.view'))
    yield '<select name="view"><option value="list">'
    yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.view_list'))
    yield '</option><option value="matrix">'
    yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.view_matrix'))
    yield '</option></select></label>\n<label>'
    yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.search'))
    yield '<input type="search" name="search" autocomplete="off"></label>\n<label>'
    yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.filter_state'))
    yield '<select name="state"><option value="">'
    yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.any'))
    yield '</option>'
    for l_1_each in (undefined(name='bars') if l_0_bars is missing else l_0_bars):
        l_1_codes = resolve('codes')
        l_1_whole_words = resolve('whole_words')
        _loop_vars = {}
        pass
        yield '<option value="'
        yield escape(environment.getitem((undefined(name='codes') if l_1_codes is missing else l_1_codes), l_1_each))
        yield '">'
        yield escape(environment.getitem((undefined(name='whole_words') if l_1_whole_words is missing else l_1_whole_words), l_1_each))
        yield '</option>'
    l_1_each = l_1_codes = l_1_whole_words = missing
    yield '</select></label>\n<label>'
    yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.filter_path'))
    yield '<select name="path"><option value="">'
    yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.any'))
    yield '</option>'
    l_1_loop = missing
    for l_1_path, l_1_loop in LoopContext((undefined(name='paths') if l_0_paths is missing else l_0_paths), undefined):
        l_1_shown = resolve('shown')
        _loop_vars = {}
        pass
        yield '<option value="'
        yield escape(environment.getattr(l_1_loop, 'index0'))
        yield '">'
        yield escape(context.call((undefined(name='shown') if l_1_shown is missing else l_1_shown), l_1_path, _loop_vars=_loop_vars))
        yield '</option>'
    l_1_loop = l_1_path = l_1_shown = missing
    yield '</select></label>\n'
    for (l_1_property, l_1_values) in context.call(environment.getattr((undefined(name='groups') if l_0_groups is missing else l_0_groups), 'items')):
        l_1_shown = resolve('shown')
        _loop_vars = {}
        pass
        yield '<label>'
        yield escape(context.call((undefined(name='shown') if l_1_shown is missing else l_1_shown), l_1_property, _loop_vars=_loop_vars))
        yield '<select name="property'
        yield escape(context.call(environment.getattr(environment.getattr((undefined(name='page') if l_0_page is missing else l_0_page), 'property_names'), 'index'), l_1_property, _loop_vars=_loop_vars))
        yield '"><option value="">'
        yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.any', _loop_vars=_loop_vars))
        yield '</option>'
        for l_2_group in l_1_values:
            _loop_vars = {}
            pass
            yield '<option value="='
            yield escape(context.call((undefined(name='shown') if l_1_shown is missing else l_1_shown), environment.getattr(l_2_group, 'value'), _loop_vars=_loop_vars))
            yield '">'
            yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.group', value=(environment.getattr(l_2_group, 'value') or context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.no_value', _loop_vars=_loop_vars)), complete=environment.getattr(environment.getattr(l_2_group, 'counts'), 'present'), all=context.call(environment.getattr(environment.getattr(l_2_group, 'counts'), 'total'), _loop_vars=_loop_vars), _loop_vars=_loop_vars))
            yield '</option>'
        l_2_group = missing
        yield '</select></label>\n'
    l_1_property = l_1_values = l_1_shown = missing
    yield '<label>'
    yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.sort'))
    yield '<select name="sort"><option value="">'
    yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.sort_lacking'))
    yield '</option><option value="name">'
    yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.sort_name'))
    yield '</option>'
    for l_1_property in (undefined(name='groups') if l_0_groups is missing else l_0_groups):
        l_1_shown = resolve('shown')
        _loop_vars = {}
        pass
        yield '<option value="property'
        yield escape(context.call(environment.getattr(environment.getattr((undefined(name='page') if l_0_page is missing else l_0_page), 'property_names'), 'index'), l_1_property, _loop_vars=_loop_vars))
        yield '">'
        yield escape(context.call((undefined(name='shown') if l_1_shown is missing else l_1_shown), l_1_property, _loop_vars=_loop_vars))
        yield '</option>'
    l_1_property = l_1_shown = missing
    yield '</select></label>\n</form>\n<p id="count" class="soft" role="status" data-text="'
    yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.count', shown='{shown}', all='{all}'))
    yield '" data-quiet="'
    yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.quiet', names='{names}'))
    yield '" data-more="'
    yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'label.more', count='{count}'))
    yield '"></p>\n\n<section id="list" aria-labelledby="to-look-at">\n<h3 id="to-look-at">'
    yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.to_look_at'))
    yield '</h3>\n<div class="scroll" role="region" aria-labelledby="to-look-at" tabindex="0">\n<table>\n<thead><tr><th scope="col">'
    yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.repository'))
    yield '</th><th scope="col" class="number">'
    yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.lacking'))
    yield '</th><th scope="col">'
    yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.paths'))
    yield '</th><th scope="col">'
    yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.pull_request'))
    yield '</th></tr></thead>\n<tbody>\n'
    for l_1_row in (undefined(name='rows') if l_0_rows is missing else l_0_rows):
        l_1_looked_at = missing
        _loop_vars = {}
        pass
        l_1_looked_at = context.call(environment.getattr(l_1_row, 'to_look_at'), (undefined(name='paths') if l_0_paths is missing else l_0_paths), _loop_vars=_loop_vars)
        _loop_vars['looked_at'] = l_1_looked_at
        if (((undefined(name='looked_at') if l_1_looked_at is missing else l_1_looked_at) or environment.getattr(l_1_row, 'reason')) or environment.getattr(l_1_row, 'remark')):
            pass
            yield '<tr '
            yield escape(context.call((undefined(name='data') if l_0_data is missing else l_0_data), l_1_row, _loop_vars=_loop_vars))
            yield '>\n<th scope="row">'
            yield escape(context.call((undefined(name='name') if l_0_name is missing else l_0_name), l_1_row, _loop_vars=_loop_vars))
            yield '</th>\n<td class="number">'
            yield escape(environment.getattr(l_1_row, 'lacking'))
            yield '</td>\n<td>'
            if environment.getattr(l_1_row, 'reason'):
                pass
                yield '<p>'
                if environment.getattr(l_1_row, 'has_failed'):
                    pass
                    yield '<span class="failed key"></span>'
                yield escape(environment.getattr(l_1_row, 'reason'))
                if environment.getattr(l_1_row, 'help_page'):
                    pass
                    yield ' <a href="'
                    yield escape(environment.getattr(l_1_row, 'help_page'))
                    yield '">'
                    yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.help', _loop_vars=_loop_vars))
                    yield '</a>'
                yield '</p>'
            yield '<ul class="paths">\n'
            for l_2_path in (undefined(name='looked_at') if l_1_looked_at is missing else l_1_looked_at):
                l_2_bar_words = resolve('bar_words')
                l_2_shown = resolve('shown')
                _loop_vars = {}
                pass
                yield '<li><span class="state"><span class="'
                yield escape(environment.getattr(l_2_path, 'bar'))
                yield ' key"></span>'
                yield escape(environment.getitem((undefined(name='bar_words') if l_2_bar_words is missing else l_2_bar_words), environment.getattr(l_2_path, 'bar')))
                yield '</span> '
                if environment.getattr(l_2_path, 'url'):
                    pass
                    yield '<a href="'
                    yield escape(environment.getattr(l_2_path, 'url'))
                    yield '"><code>'
                    yield escape(context.call((undefined(name='shown') if l_2_shown is missing else l_2_shown), environment.getattr(l_2_path, 'path'), _loop_vars=_loop_vars))
                    yield '</code></a>'
                else:
                    pass
                    yield '<code>'
                    yield escape(context.call((undefined(name='shown') if l_2_shown is missing else l_2_shown), environment.getattr(l_2_path, 'path'), _loop_vars=_loop_vars))
                    yield '</code>'
                yield '</li>\n'
            l_2_path = l_2_bar_words = l_2_shown = missing
            yield '</ul></td>\n<td>'
            yield escape(context.call((undefined(name='pull_request') if l_0_pull_request is missing else l_0_pull_request), l_1_row, _loop_vars=_loop_vars))
            yield '</td>\n</tr>\n'
    l_1_row = l_1_looked_at = missing
    yield '</tbody>\n</table>\n</div>\n</section>\n\n<section id="matrix" aria-labelledby="all">\n<h3 id="all">'
    yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.all'))
    yield '</h3>\n<p class="legend">'
    for l_1_each in (undefined(name='bars') if l_0_bars is missing else l_0_bars):
        l_1_letters = resolve('letters')
        l_1_whole_words = resolve('whole_words')
        _loop_vars = {}
        pass
        yield '<span><span class="'
        yield escape(l_1_each)
        yield ' cell">'
        yield escape(environment.getitem((undefined(name='letters') if l_1_letters is missing else l_1_letters), l_1_each))
        yield '</span> '
        yield escape(environment.getitem((undefined(name='whole_words') if l_1_whole_words is missing else l_1_whole_words), l_1_each))
        yield '</span> '
    l_1_each = l_1_letters = l_1_whole_words = missing
    yield '</p>\n<div class="scroll matrix" role="region" aria-labelledby="all" tabindex="0">\n<table>\n<thead><tr><th scope="col">'
    yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.repository'))
    yield '</th>'
    for l_1_path in (undefined(name='paths') if l_0_paths is missing else l_0_paths):
        l_1_shown = resolve('shown')
        _loop_vars = {}
        pass
        yield '<th scope="col"><code>'
        yield escape(context.call((undefined(name='shown') if l_1_shown is missing else l_1_shown), l_1_path, _loop_vars=_loop_vars))
        yield '</code></th>'
    l_1_path = l_1_shown = missing
    yield '<th scope="col">'
    yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.pull_request'))
    yield '</th></tr></thead>\n<tbody>\n'
    for l_1_row in (undefined(name='rows') if l_0_rows is missing else l_0_rows):
        _loop_vars = {}
        pass
        yield '<tr '
        yield escape(context.call((undefined(name='data') if l_0_data is missing else l_0_data), l_1_row, _loop_vars=_loop_vars))
        yield '><th scope="row">'
        yield escape(context.call((undefined(name='name') if l_0_name is missing else l_0_name), l_1_row, _loop_vars=_loop_vars))
        yield '</th>'
        for l_2_each in context.call(environment.getattr(l_1_row, 'bars'), t_1((undefined(name='paths') if l_0_paths is missing else l_0_paths)), _loop_vars=_loop_vars):
            l_2_letters = resolve('letters')
            _loop_vars = {}
            pass
            yield '<td'
            if l_2_each:
                pass
                yield ' class="'
                yield escape(l_2_each)
                yield '"'
            yield '>'
            yield escape((environment.getitem((undefined(name='letters') if l_2_letters is missing else l_2_letters), l_2_each) if l_2_each else ''))
            yield '</td>'
        l_2_each = l_2_letters = missing
        yield '<td>'
        yield escape(context.call((undefined(name='pull_request') if l_0_pull_request is missing else l_0_pull_request), l_1_row, _loop_vars=_loop_vars))
        yield '</td></tr>\n'
    l_1_row = missing
    yield '</tbody>\n</table>\n</div>\n</section>\n'
    if (undefined(name='more') if l_0_more is missing else l_0_more):
        pass
        yield '<p>'
        yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.not_shown', count=(undefined(name='more') if l_0_more is missing else l_0_more)))
        yield '</p>\n'
    yield '\n'
    if environment.getattr((undefined(name='page') if l_0_page is missing else l_0_page), 'excluded_by_reason'):
        pass
        yield '<h2>'
        yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'page.left_out', count=t_3(environment, context.call(environment.getattr(environment.getattr((undefined(name='page') if l_0_page is missing else l_0_page), 'excluded_by_reason'), 'values')), attribute=1)))
        yield '</h2>\n'
        for (l_1_reason, (l_1_names, l_1_count)) in context.call(environment.getattr(environment.getattr((undefined(name='page') if l_0_page is missing else l_0_page), 'excluded_by_reason'), 'items')):
            l_1_excluded_words = resolve('excluded_words')
            l_1_most_excluded = resolve('most_excluded')
            l_1_more = l_0_more
            _loop_vars = {}
            pass
            if l_1_names:
                pass
                yield '<details><summary>'
                yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), environment.getitem((undefined(name='excluded_words') if l_1_excluded_words is missing else l_1_excluded_words), l_1_reason), count=l_1_count, _loop_vars=_loop_vars))
                yield '</summary><ul class="names">'
                for l_2_each in l_1_names[:(undefined(name='most_excluded') if l_1_most_excluded is missing else l_1_most_excluded)]:
                    l_2_shown = resolve('shown')
                    _loop_vars = {}
                    pass
                    yield '<li>'
                    yield escape(context.call((undefined(name='shown') if l_2_shown is missing else l_2_shown), l_2_each, _loop_vars=_loop_vars))
                    yield '</li>'
                l_2_each = l_2_shown = missing
                l_1_more = (l_1_count - t_1(l_1_names[:(undefined(name='most_excluded') if l_1_most_excluded is missing else l_1_most_excluded)]))
                _loop_vars['more'] = l_1_more
                if (undefined(name='more') if l_1_more is missing else l_1_more):
                    pass
                    yield '<li>'
                    yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), 'label.more', count=(undefined(name='more') if l_1_more is missing else l_1_more), _loop_vars=_loop_vars))
                    yield '</li>'
                yield '</ul></details>\n'
            else:
                pass
                yield '<p>'
                yield escape(context.call((undefined(name='t') if l_0_t is missing else l_0_t), environment.getitem((undefined(name='excluded_words') if l_1_excluded_words is missing else l_1_excluded_words), l_1_reason), count=l_1_count, _loop_vars=_loop_vars))
                yield '</p>\n'
        l_1_reason = l_1_names = l_1_count = l_1_excluded_words = l_1_most_excluded = l_1_more = missing
    if (undefined(name='contents') if l_0_contents is missing else l_0_contents):
        pass
        yield '<h2>'
        yield escape((undefined(name='contents_title') if l_0_contents_title is missing else l_0_contents_title))
        yield '</h2>\n'
        for (l_1_heading, l_1_diff) in (undefined(name='contents') if l_0_contents is missing else l_0_contents):
            _loop_vars = {}
            pass
            if l_1_diff:
                pass
                yield '<details><summary>'
                yield escape(l_1_heading)
                yield '</summary><pre>'
                for l_2_line in l_1_diff:
                    l_2_shown = resolve('shown')
                    _loop_vars = {}
                    pass
                    yield escape(context.call((undefined(name='shown') if l_2_shown is missing else l_2_shown), l_2_line, _loop_vars=_loop_vars))
                    yield '\n'
                l_2_line = l_2_shown = missing
                yield '</pre></details>\n'
            else:
                pass
                yield '<p>'
                yield escape(l_1_heading)
                yield '</p>\n'
        l_1_heading = l_1_diff = missing
    yield '</main>\n<script>'
    yield escape(t_2((undefined(name='script') if l_0_script is missing else l_0_script)))
    yield '</script>\n</body>\n</html>'

blocks = {}
debug_info = '1=47&2=50&3=53&4=56&5=59&6=62&7=65&8=74&9=77&11=106&12=134&13=164&15=208&18=210&21=214&23=216&27=218&28=220&31=222&33=225&34=229&39=234&40=238&42=245&43=248&45=252&46=263&47=269&50=289&51=291&52=293&53=296&56=299&59=301&61=318&62=324&63=326&64=328&70=343&71=348&72=352&74=354&76=360&77=364&78=366&79=368&86=382&87=384&88=387&91=390&92=396&93=398&94=414&95=430&96=435&98=453&100=470&103=476&106=478&108=486&109=490&110=492&111=495&112=497&113=499&114=501&115=517&116=523&119=542&129=546&130=548&133=562&135=575&136=579&142=602&143=605&146=608&147=611&148=613&149=619&150=622&152=643&156=646&157=649&158=651&159=654&160=657&163=670&168=674'
